package dev.roost.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CapacityTest {
  private static final Instant START = Instant.parse("2026-11-23T12:00:00Z");
  private static final Shortage QUOTA = new Shortage(true, Set.of("pods"));
  private static final Shortage NODES = new Shortage(false, Set.of("memory"));

  private final Capacity capacity = new Capacity();

  private static Instant at(long seconds) {
    return START.plusSeconds(seconds);
  }

  private List<String> shortAt(long seconds) {
    return capacity.shortOf(at(seconds)).stream().map(Capacity.Refused::id).toList();
  }

  @Test
  void whatAQuotaRefusesNeedsCapacityUntilSomethingHasEnded() {
    capacity.tried("a", at(0));
    capacity.lacks("a", QUOTA, at(2));
    assertEquals(List.of("a"), shortAt(2));
    capacity.freed(at(3));
    assertEquals(List.of(), shortAt(3), "it may have what it needs by now");
    assertFalse(capacity.isTriedAgain("a", at(4)), "Kubernetes may not have noted the end");
    assertTrue(capacity.isTriedAgain("a", at(5)));
    capacity.tried("a", at(5));
    assertEquals(List.of(), shortAt(6), "nothing is known of this try");
    capacity.lacks("a", QUOTA, at(7));
    assertEquals(List.of("a"), shortAt(7), "it was not enough");
    assertFalse(capacity.isTriedAgain("a", at(60)));
    assertTrue(capacity.isTriedAgain("a", at(65)), "others may have freed some");
  }

  @Test
  void endsAllTheTimePutATryOffForAWhileOnly() {
    capacity.tried("a", at(0));
    capacity.lacks("a", QUOTA, at(1));
    for (int second = 1; second < 15; second++) {
      capacity.freed(at(second));
      assertFalse(capacity.isTriedAgain("a", at(second)));
    }
    capacity.freed(at(15));
    assertTrue(capacity.isTriedAgain("a", at(15)));
  }

  @Test
  void whatFitsNoNodeStaysAndNeedsCapacityOnceTheSchedulerHasRun() {
    capacity.tried("a", at(0));
    capacity.lacks("a", NODES, at(1));
    assertEquals(List.of("a"), shortAt(1));
    capacity.freed(at(10));
    assertEquals(List.of(), shortAt(24));
    assertEquals(List.of("a"), shortAt(25));
    assertFalse(capacity.isTriedAgain("a", at(9_999)));
  }

  @Test
  void whoWaitsLongestComesFirstAndWhatIsGoneIsForgotten() {
    capacity.tried("bjob_1", at(1));
    capacity.tried("executor_2", at(0));
    capacity.lacks("bjob_1", QUOTA, at(2));
    capacity.lacks("executor_2", QUOTA, at(2));
    assertEquals(List.of("executor_2", "bjob_1"), shortAt(2));
    capacity.keep("bjob_", Set.of());
    assertEquals(List.of("executor_2"), shortAt(2));
    capacity.suffices("executor_2");
    assertEquals(List.of(), shortAt(2));
  }
}
