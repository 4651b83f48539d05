package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;
import org.junit.jupiter.api.Test;

class ThrottledLogTest {
  private final AtomicLong now = new AtomicLong();
  private final ThrottledLog throttledLog =
      new ThrottledLog(Logger.getLogger(ThrottledLogTest.class), now::get);

  @Test
  void aCauseIsSaidOnceAMinuteWhateverComesInBetween() {
    assertTrue(throttledLog.warn("executor 1", "refused"));
    assertTrue(throttledLog.warn("executor 2", "reset"));
    assertFalse(throttledLog.warn("executor 3", "refused"));
    now.addAndGet(Duration.ofSeconds(59).toNanos());
    assertFalse(throttledLog.warn("executor 1", "refused"));
    now.addAndGet(Duration.ofSeconds(1).toNanos());
    assertTrue(throttledLog.warn("executor 1", "refused"));
  }
}
