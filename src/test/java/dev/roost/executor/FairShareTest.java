package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.executor.FairShare.Need;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class FairShareTest {
  @Test
  void capacityIsGivenInTurn() {
    FairShare.Plan plan =
        plan(5, Map.of(), new Need("a", 10_000), new Need("b", 1), new Need("c", 2));
    assertEquals(List.of(0, 1, 2, 0, 2), plan.starts());
  }

  @Test
  void whoHasTheFewestComesFirstAndWhoWaitsLongestAmongEquals() {
    FairShare.Plan plan =
        plan(3, Map.of("a", 3, "b", 1), new Need("a", 5), new Need("c", 1), new Need("b", 5));
    assertEquals(List.of(1, 2, 2), plan.starts());
  }

  @Test
  void withoutCapacityAgentsWithManyExecutorsGiveToThoseWithFew() {
    FairShare.Plan plan = plan(0, Map.of("a", 32), new Need("a", 10_000), new Need("b", 1));
    assertEquals(List.of(), plan.starts());
    assertEquals(Map.of("a", 1), plan.takes());
  }

  @Test
  void equalsDontTakeFromEachOther() {
    assertEquals(Map.of(), plan(0, Map.of("a", 2, "b", 1), new Need("b", 5)).takes());
    assertEquals(Map.of("a", 1), plan(0, Map.of("a", 3, "b", 1), new Need("b", 5)).takes());
    assertEquals(Map.of(), plan(0, Map.of("a", 1), new Need("b", 5)).takes());
  }

  @Test
  void manyNewAgentsTakeFromTheOneThatHasAll() {
    FairShare.Plan plan =
        plan(0, Map.of("a", 8), new Need("b", 9), new Need("c", 9), new Need("d", 9));
    assertEquals(Map.of("a", 6), plan.takes());
  }

  /** Followed long enough, plans lead to equal shares, and then nothing moves any more. */
  @RepeatedTest(50)
  void sharesBecomeEqualAndStay(RepetitionInfo repetition) {
    Random random = new Random(repetition.getCurrentRepetition());
    int room = 1 + random.nextInt(40);
    int agents = 1 + random.nextInt(8);
    Map<String, Integer> held = new HashMap<>();
    for (int i = 0; i < room; i++) {
      held.merge("agent" + random.nextInt(agents), 1, Integer::sum);
    }
    List<Need> needs = new ArrayList<>();
    for (int i = 0; i < agents; i++) {
      needs.add(new Need("agent" + i, 10_000));
    }
    for (int round = 0; round < 100; round++) {
      int free = room - held.values().stream().mapToInt(Integer::intValue).sum();
      FairShare.Plan plan = FairShare.plan(free, held, needs);
      plan.takes().forEach((agent, count) -> held.merge(agent, -count, Integer::sum));
      plan.starts().forEach(index -> held.merge(needs.get(index).agentId(), 1, Integer::sum));
    }
    int most = held.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
    for (Need want : needs) {
      int count = held.getOrDefault(want.agentId(), 0);
      assertTrue(count >= most - 1 && count >= room / agents, () -> held + " of " + room);
    }
    FairShare.Plan settled = FairShare.plan(0, held, needs);
    assertEquals(Map.of(), settled.takes(), held::toString);
  }

  private static FairShare.Plan plan(int free, Map<String, Integer> held, Need... needs) {
    return FairShare.plan(free, held, List.of(needs));
  }
}
