package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StoreSizesTest {
  private final StoreSizes sizes = new StoreSizes(100);
  private final AtomicLong stored = new AtomicLong();
  private final AtomicLong measurements = new AtomicLong();

  @Test
  void aStoreIsMeasuredOnceAndThenCounted() {
    for (int i = 0; i < 10; i++) {
      reserve(10);
      stored.addAndGet(10);
    }
    assertEquals(1, measurements.get());
    Problem problem = assertThrows(Problem.class, () -> reserve(1));
    assertEquals(ErrorCode.STORE_FULL, problem.code());
  }

  @Test
  void aFullStoreIsNotMeasuredAtEveryAttempt() {
    stored.set(100);
    for (int i = 0; i < 50; i++) {
      assertThrows(Problem.class, () -> reserve(1));
    }
    assertEquals(1, measurements.get());
  }

  @Test
  void writingOneEntryAgainAndAgainFillsNothing() {
    stored.set(40);
    for (int i = 0; i < 50; i++) {
      reserve(40);
    }
  }

  @Test
  void aStoreThatWasClearedTakesWritesAtOnce() {
    stored.set(100);
    assertThrows(Problem.class, () -> reserve(1));
    stored.set(0);
    sizes.forget("store");
    reserve(100);
  }

  private void reserve(long bytes) {
    sizes.reserve(
        "store",
        bytes,
        () -> {
          measurements.incrementAndGet();
          return stored.get();
        });
  }
}
