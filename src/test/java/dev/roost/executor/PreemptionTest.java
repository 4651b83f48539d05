package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.executor.Preemption.Lacking;
import dev.roost.executor.Preemption.Live;
import dev.roost.runtime.Shortage;
import dev.roost.state.BuilderJobState;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PreemptionTest {
  private static final Shortage PODS = new Shortage(true, Set.of("pods"));
  private static final Shortage MEMORY = new Shortage(false, Set.of("memory"));

  private static Lacking lacking(
      String id, String agent, String profile, int memory, Shortage what) {
    return new Lacking(
        new Live(id, new RevisionKey(agent, 1), profile, memory, 0.5, true, false), what);
  }

  private static Demand.Waiting waiting(
      String agent, String profile, int memory, int waiting, int starting, int free) {
    return new Demand.Waiting(
        new RevisionKey(agent, 1),
        agent,
        waiting,
        "xjob_",
        starting,
        free,
        10,
        1,
        0,
        memory,
        0.5,
        "3.13",
        profile,
        "all",
        "bjob_",
        BuilderJobState.SUCCEEDED,
        null,
        "build_",
        "key",
        "image",
        false);
  }

  private static List<Lacking> four(String profile, int memory, Shortage what) {
    return IntStream.range(0, 4)
        .mapToObj(i -> lacking("x" + i, "agent" + i, profile, memory, what))
        .toList();
  }

  @Test
  void anAgentWhoseExecutorLacksCapacityGetsNoFurtherOne() {
    List<Lacking> one = List.of(lacking("x", "a", null, 256, MEMORY));
    assertTrue(Preemption.isFutile(waiting("a", null, 256, 5, 1, 0), one));
    assertFalse(Preemption.isFutile(waiting("b", null, 256, 5, 0, 0), one));
  }

  @Test
  void whereFourHaveFailedWithNoMoreThanItNeedsAFifthIsNotTried() {
    assertTrue(Preemption.isFutile(waiting("b", null, 256, 1, 0, 0), four(null, 256, MEMORY)));
    assertFalse(
        Preemption.isFutile(waiting("b", null, 255, 1, 0, 0), four(null, 256, MEMORY)),
        "it is smaller");
    assertFalse(
        Preemption.isFutile(waiting("b", "gpu", 256, 1, 0, 0), four(null, 256, MEMORY)),
        "its nodes may be others");
    assertTrue(
        Preemption.isFutile(waiting("b", "gpu", 16, 1, 0, 0), four(null, 256, PODS)),
        "a quota of pods counts them all");
  }

  @Test
  void executorsThatNoJobNeedsAnyMoreAreSurplus() {
    List<Lacking> three =
        List.of(
            lacking("x1", "a", null, 256, PODS),
            lacking("x2", "a", null, 256, PODS),
            lacking("x3", "b", null, 256, PODS));
    assertEquals(three, Preemption.surplus(three, List.of()));
    assertEquals(
        three.subList(1, 3), Preemption.surplus(three, List.of(waiting("a", null, 256, 1, 2, 0))));
    assertEquals(
        List.of(three.get(2)),
        Preemption.surplus(three, List.of(waiting("a", null, 256, 2, 2, 0))));
    assertEquals(
        three,
        Preemption.surplus(three, List.of(waiting("a", null, 256, 2, 3, 1))),
        "one is free, and another comes up");
  }
}
