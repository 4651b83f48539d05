package dev.roost.webhook;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How many requests are under way. A receiver that let the last one run into its time-out gets one
 * at a time until it answers, and all of those together at most half of all: so those that hang
 * don't hold up those that answer. Not safe for several threads.
 */
final class Slots {
  /** Requests at a time, of all webhooks together. */
  static final int ALL = 64;

  /** Requests at a time of one webhook. */
  static final int EACH = 8;

  private static final int ALL_SLOW = ALL / 2;
  private static final int EACH_SLOW = 1;

  /** More than that are not remembered; those that are forgotten are found out again. */
  private static final int MOST_SLOW = 1_000;

  private final Map<String, Integer> busy = new HashMap<>();
  private final Set<String> slow = new LinkedHashSet<>();
  private int total;

  /**
   * What a webhook may begin.
   *
   * @param requests 0 or more
   */
  record Room(String webhookId, int requests, boolean slow) {}

  void begin(String webhookId) {
    busy.merge(webhookId, 1, Integer::sum);
    total++;
  }

  /**
   * @param late whether the time was over before there was an answer
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
  int room() {
    return ALL - total;
  }

  /** How many of those may go to slow receivers. */
  int slowRoom() {
    int running = slow.stream().mapToInt(id -> busy.getOrDefault(id, 0)).sum();
    return Math.max(0, ALL_SLOW - running);
  }

  /** Of webhooks for which it is not {@link #EACH}. */
  List<Room> rooms() {
    Set<String> special = new LinkedHashSet<>(busy.keySet());
    special.addAll(slow);
    List<Room> rooms = new ArrayList<>();
    for (String id : special) {
      boolean isSlow = slow.contains(id);
      int limit = isSlow ? EACH_SLOW : EACH;
      rooms.add(new Room(id, Math.max(0, limit - busy.getOrDefault(id, 0)), isSlow));
    }
    return rooms;
  }
}
