package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.executor.PoolSizes.ColdStart;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PoolSizesTest {
  private static final Instant NOW = Instant.parse("2026-11-24T12:00:00Z");
  private static final Duration REFILL = Duration.ofSeconds(2);
  private static final PoolKey A = pool("build_a");
  private static final PoolKey B = pool("build_b");
  private static final PoolKey C = pool("build_c");

  private static PoolKey pool(String build) {
    return new PoolKey(build, 512, 1, null, "all");
  }

  /** Cold starts that many seconds before now. */
  private static List<ColdStart> starts(PoolKey pool, double... secondsAgo) {
    List<ColdStart> starts = new ArrayList<>();
    for (double ago : secondsAgo) {
      starts.add(new ColdStart(pool, NOW.minusMillis((long) (ago * 1_000))));
    }
    return starts;
  }

  @SafeVarargs
  private static List<ColdStart> all(List<ColdStart>... some) {
    List<ColdStart> all = new ArrayList<>();
    for (List<ColdStart> starts : some) {
      all.addAll(starts);
    }
    return all;
  }

  @Test
  void withoutColdStartsThereIsNoPool() {
    assertEquals(Map.of(), PoolSizes.of(List.of(), REFILL, 10));
  }

  @Test
  void oneIsEnoughForStartsThatAreFurtherApartThanARefill() {
    assertEquals(Map.of(A, 1), PoolSizes.of(starts(A, 60, 30, 2, 0), REFILL, 10));
  }

  @Test
  void aPoolHoldsWhatStartsWithinARefill() {
    assertEquals(Map.of(A, 3), PoolSizes.of(starts(A, 1.9, 1, 0), REFILL, 10));
    // In any order, and at the same moment.
    assertEquals(Map.of(A, 4), PoolSizes.of(starts(A, 0, 0, 50, 0, 0), REFILL, 10));
  }

  @Test
  void aRefillTimeOfZeroOrLessCountsEachStartAlone() {
    assertEquals(Map.of(A, 1), PoolSizes.of(starts(A, 2, 1, 0), Duration.ZERO, 10));
    assertEquals(Map.of(A, 1), PoolSizes.of(starts(A, 1, 0), Duration.ofMillis(-3), 10));
  }

  @Test
  void oneBurstAmongManyStartsIsNotProvidedFor() {
    double[] apart = new double[99];
    for (int i = 0; i < apart.length; i++) {
      apart[i] = 100 + 10 * i;
    }
    // Of 100 + 4 starts, the 2nd, 3rd and 4th of the burst would find none: fewer than 5 %.
    List<ColdStart> starts = all(starts(A, apart), starts(A, 1, 1, 1, 1));
    assertEquals(Map.of(A, 1), PoolSizes.of(starts, REFILL, 10));
  }

  @Test
  void eachPoolGetsOneBeforeAnyGetsMoreAndThoseWithMoreStartsComeFirst() {
    List<ColdStart> starts = all(starts(C, 9), starts(A, 1, 1, 1, 1), starts(B, 1, 1));
    assertEquals(Map.of(A, 1, B, 1), PoolSizes.of(starts, REFILL, 2));
    assertEquals(Map.of(A, 2, B, 1, C, 1), PoolSizes.of(starts, REFILL, 4));
    assertEquals(Map.of(A, 4, B, 2, C, 1), PoolSizes.of(starts, REFILL, 100));
  }

  @Test
  void withoutABudgetThereIsNoPool() {
    assertEquals(Map.of(), PoolSizes.of(starts(A, 1), REFILL, 0));
  }
}
