package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.runtime.Egress;
import dev.roost.runtime.Egress.Destination;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EgressRulesTest {
  /** 10.0.0.0/8, 169.254.0.0/16 and fc00::/7 but 10.20.0.0/16:5432 and [fd00::7]. */
  private final EgressRules rules = TestPodSettings.pods(TestPodSettings.EVERYTHING).egress();

  @ParameterizedTest
  @CsvSource({
    "all, true",
    "none, true",
    "192.0.2.7:443, true",
    "0.0.0.0/0:443, true",
    "[::/0]:443, true",
    "10.20.0.7:5432, true",
    "10.20.3.0/24:5432, true",
    "[fd00::7]:22, true",
    "10.20.0.7:22, false",
    "10.20.0.0/15:5432, false",
    "10.0.0.0/8:5432, false",
    "169.254.169.254:80, false",
    "[fd00::8]:22, false",
    "[::ffff:10.0.0.1]:22, false",
  })
  void anAgentOpensNoMoreThanTheOperatorAllows(String egress, boolean allowed) {
    assertEquals(allowed, rules.refusal(Egress.parse(egress)).isEmpty());
  }

  @Test
  void theRefusalNamesTheDestination() {
    String refusal = rules.refusal(Egress.parse("192.0.2.7:443\n10.1.2.3:80")).orElseThrow();
    assertTrue(refusal.contains("10.1.2.3:80"), refusal);
  }

  @ParameterizedTest
  @CsvSource({
    "0.0.0.0/0:443, 10.0.0.0/8 169.254.0.0/16",
    "8.0.0.0/5:443, 10.0.0.0/8",
    "192.0.2.0/24:443, ''",
    "10.20.3.0/24:5432, ''",
    "[::/0]:443, fc00:0:0:0:0:0:0:0/7",
  })
  void whatIsClosedStaysClosedWithinALargerBlock(String destination, String closed) {
    assertEquals(closed, String.join(" ", rules.closedWithin(Destination.of(destination, false))));
  }

  /** A policy for a pod that no other one selects would take DNS and the control plane from it. */
  @Test
  void withoutNetworkPoliciesNothingCanBeLimited() {
    EgressRules without = TestPodSettings.pods(Map.of()).egress();
    assertEquals(Optional.empty(), without.refusal(Egress.ALL));
    for (String egress : List.of("none", "192.0.2.7:443")) {
      assertTrue(
          without
              .refusal(Egress.parse(egress))
              .orElseThrow()
              .contains("roost.kubernetes.network-policies"));
    }
  }
}
