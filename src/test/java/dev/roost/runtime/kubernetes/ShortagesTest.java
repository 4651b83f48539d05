package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.runtime.Shortage;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShortagesTest {
  private static final String REFUSED =
      "jobs.batch \"executor-1\" is forbidden: exceeded quota: tight, requested: %s, used: %s, limited: %s";

  private static Optional<Shortage> quota(String requested, String used, String limited) {
    return Shortages.ofQuota(REFUSED.formatted(requested, used, limited));
  }

  private static Optional<Shortage> nodes(String nodes, String preemption) {
    return Shortages.ofScheduler("0/3 nodes are available: " + nodes + preemption);
  }

  @Test
  void aFullQuotaIsAShortage() {
    assertEquals(
        Optional.of(new Shortage(true, Set.of("pods", "limits.memory"))),
        quota(
            "limits.memory=304Mi,pods=1", "limits.memory=2Gi,pods=4", "limits.memory=2Gi,pods=4"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"limits.memory=64Mi", "limits.memory=127Mi", "limits.memory=0"})
  void aQuotaThatOnePodAloneExceedsIsNone(String limited) {
    assertEquals(Optional.empty(), quota("limits.memory=128Mi", "limits.memory=0", limited));
    assertTrue(Shortages.isOfQuota(REFUSED.formatted("a=1", "a=0", "a=0")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"pods", "count/jobs.batch"})
  void aQuotaOfNoObjectsAtAllHoldsEverythingBackForAWhile(String what) {
    assertEquals(
        Optional.of(new Shortage(true, Set.of(what))),
        quota(what + "=1", what + "=0", what + "=0"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\"",
        "pods \"x\" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi",
        ""
      })
  void otherRefusalsAreNone(String message) {
    assertEquals(Optional.empty(), Shortages.ofQuota(message));
    assertFalse(Shortages.isOfQuota(message));
  }

  @Test
  void whatPodsOfOthersUseIsAShortage() {
    String victims =
        " preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.";
    assertEquals(
        Optional.of(new Shortage(false, Set.of("memory", "nvidia.com/gpu", "pods"))),
        nodes("1 Insufficient memory, 2 Insufficient nvidia.com/gpu, 1 Too many pods.", victims));
    String some =
        " preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod,"
            + " 2 Preemption is not helpful for scheduling.";
    assertEquals(
        Optional.of(new Shortage(false, Set.of("cpu"))),
        nodes("1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector.", some));
    assertEquals(
        Optional.of(new Shortage(false, Set.of("cpu"))),
        nodes("3 Insufficient cpu.", " preemption: not eligible due to preemptionPolicy=Never."));
    assertEquals(Optional.of(new Shortage(false, Set.of("cpu"))), nodes("3 Insufficient cpu.", ""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "3 Insufficient memory.",
        "3 node(s) didn't match Pod's node affinity/selector.",
        "1 Insufficient memory, 2 node(s) had untolerated taint {gpu: true}."
      })
  void whatNoNodeCouldTakeIsNone(String nodes) {
    assertEquals(
        Optional.empty(),
        nodes(
            nodes,
            " preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."));
  }

  @Test
  void onlyNumbersOfObjectsConcernPodsOfAnySize() {
    assertTrue(new Shortage(true, Set.of("pods", "count/jobs.batch")).isOfAnySize());
    assertFalse(new Shortage(true, Set.of("pods", "limits.cpu")).isOfAnySize());
    assertFalse(new Shortage(false, Set.of("pods")).isOfAnySize());
  }
}
