package dev.roost.executor;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How many executors each pool holds. Pure.
 *
 * <p>An executor that leaves a pool is replaced, which takes the refill time. So a cold start finds
 * one in a pool of n if at most n cold starts, itself included, happened within the refill time
 * before it. A pool is as small as it can be while {@link #TARGET} of the recent cold starts would
 * have found one.
 */
final class PoolSizes {
  private static final double TARGET = 0.95;

  private PoolSizes() {}

  /** An agent got an executor: from a pool, or one that was started for it. */
  record ColdStart(PoolKey pool, Instant at) {}

  /**
   * @param starts in any order
   * @param refill from the start of an executor until it can work
   * @param budget for all pools. Every pool gets one executor before any gets a second one; pools
   *     with more cold starts come first
   * @return the pools with at least one executor
   */
  static Map<PoolKey, Integer> of(List<ColdStart> starts, Duration refill, int budget) {
    Map<PoolKey, List<Instant>> times = new LinkedHashMap<>();
    for (ColdStart start : starts) {
      times.computeIfAbsent(start.pool(), key -> new ArrayList<>()).add(start.at());
    }
    List<PoolKey> pools = new ArrayList<>(times.keySet());
    pools.sort(Comparator.comparing(pool -> -times.get(pool).size()));
    Map<PoolKey, Integer> wanted = new HashMap<>();
    pools.forEach(pool -> wanted.put(pool, size(times.get(pool), refill)));
    Map<PoolKey, Integer> sizes = new LinkedHashMap<>();
    int left = budget;
    for (int size = 1; left > 0; size++) {
      int before = left;
      for (PoolKey pool : pools) {
        if (left > 0 && wanted.get(pool) >= size) {
          sizes.put(pool, size);
          left--;
        }
      }
      if (left == before) {
        break; // each pool has what it needs
      }
    }
    return sizes;
  }

  private static int size(List<Instant> times, Duration refill) {
    List<Instant> sorted = times.stream().sorted().toList();
    List<Integer> bursts = new ArrayList<>();
    int first = 0;
    for (int i = 0; i < sorted.size(); i++) {
      // Clocks that differ can make the refill time zero or less; a cold start still counts itself.
      while (first < i && !sorted.get(first).plus(refill).isAfter(sorted.get(i))) {
        first++;
      }
      bursts.add(i - first + 1);
    }
    Collections.sort(bursts);
    return bursts.get((int) Math.ceil(TARGET * bursts.size()) - 1);
  }
}
