package dev.roost.webhook;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The number of requests in progress. A receiver whose last request reached its timeout gets one
 * request at a time until it responds, and all such receivers together get at most half of all
 * slots. So slow receivers don't delay the others. Not safe for several threads.
 */
final class Slots {
  /** The most concurrent requests of all webhooks together. */
  static final int ALL = 64;

  /** The most concurrent requests of one webhook. */
  static final int EACH = 8;

  private static final int ALL_SLOW = ALL / 2;
  private static final int EACH_SLOW = 1;

  /** The most slow receivers that are remembered; forgotten ones are detected again. */
  private static final int MOST_SLOW = 1_000;

  private final Map<String, Integer> busy = new HashMap<>();
  private final Set<String> slow = new LinkedHashSet<>();
  private int total;

  /**
   * A webhook's free slots.
   *
   * @param requests 0 or more
   */
  record Capacity(String webhookId, int requests, boolean slow) {}

  void begin(String webhookId) {
    busy.merge(webhookId, 1, Integer::sum);
    total++;
  }

  /**
   * @param late whether the request reached its timeout before a response
   */
  void end(String webhookId, boolean late) {
    busy.computeIfPresent(webhookId, (id, count) -> count == 1 ? null : count - 1);
    total--;
    slow.remove(webhookId);
    if (late) {
      slow.add(webhookId);
      if (slow.size() > MOST_SLOW) {
        slow.remove(slow.iterator().next());
      }
    }
  }

  /** How many requests may begin now. */
  int capacity() {
    return ALL - total;
  }

  /** How many of these requests may go to slow receivers. */
  int slowCapacity() {
    int running = slow.stream().mapToInt(id -> busy.getOrDefault(id, 0)).sum();
    return Math.max(0, ALL_SLOW - running);
  }

  /** The webhooks whose number of free slots is not {@link #EACH}. */
  List<Capacity> capacities() {
    Set<String> special = new LinkedHashSet<>(busy.keySet());
    special.addAll(slow);
    List<Capacity> capacities = new ArrayList<>();
    for (String id : special) {
      boolean isSlow = slow.contains(id);
      int limit = isSlow ? EACH_SLOW : EACH;
      capacities.add(new Capacity(id, Math.max(0, limit - busy.getOrDefault(id, 0)), isSlow));
    }
    return capacities;
  }
}
