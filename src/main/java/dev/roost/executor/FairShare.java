package dev.roost.executor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Shares the runtime's capacity for executors among agents: the agent with the fewest executors
 * comes first (max-min fairness), however many the others want. Pure.
 */
final class FairShare {
  private FairShare() {}

  /**
   * @param count how many more executors the agent could use
   */
  record Need(String agentId, int count) {}

  /**
   * @param starts the needs that get an executor now, by index and in this order
   * @param takes how many executors each agent should give up for agents that have fewer
   */
  record Plan(List<Integer> starts, Map<String, Integer> takes) {}

  /**
   * @param free how many more executors there is capacity for
   * @param held how many executors each agent has, without those that are leaving
   * @param needs in order of arrival
   */
  static Plan plan(int free, Map<String, Integer> held, List<Need> needs) {
    Map<String, Integer> counts = new HashMap<>(held);
    int[] open = needs.stream().mapToInt(Need::count).toArray();
    List<Integer> starts = new ArrayList<>();
    for (int next = poorest(needs, open, counts); free > 0 && next >= 0; free--) {
      starts.add(next);
      open[next]--;
      counts.merge(needs.get(next).agentId(), 1, Integer::sum);
      next = poorest(needs, open, counts);
    }
    Map<String, Integer> takes = new HashMap<>();
    for (int next = poorest(needs, open, counts); next >= 0; next = poorest(needs, open, counts)) {
      String poor = needs.get(next).agentId();
      String rich = richest(held, counts);
      // With a smaller difference, the two agents would only change places.
      if (rich == null || counts.get(rich) < counts.getOrDefault(poor, 0) + 2) {
        break;
      }
      takes.merge(rich, 1, Integer::sum);
      counts.merge(rich, -1, Integer::sum);
      counts.merge(poor, 1, Integer::sum);
      open[next]--;
    }
    return new Plan(starts, takes);
  }

  /** The want of the agent that has the fewest executors, or -1 when all are satisfied. */
  private static int poorest(List<Need> needs, int[] open, Map<String, Integer> counts) {
    int poorest = -1;
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < open.length; i++) {
      int count = counts.getOrDefault(needs.get(i).agentId(), 0);
      if (open[i] > 0 && count < least) {
        poorest = i;
        least = count;
      }
    }
    return poorest;
  }

  private static String richest(Map<String, Integer> held, Map<String, Integer> counts) {
    String richest = null;
    for (String agentId : held.keySet()) {
      if (richest == null || counts.get(agentId) > counts.get(richest)) {
        richest = agentId;
      }
    }
    return richest;
  }
}
