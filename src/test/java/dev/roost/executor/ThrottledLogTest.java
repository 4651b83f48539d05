package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;
import org.junit.jupiter.api.Test;

class ThrottledLogTest {
  private final AtomicLong now = new AtomicLong();
  private final ThrottledLog complaints =
      new ThrottledLog(Logger.getLogger(ThrottledLogTest.class), now::get);

  @Test
  void aCauseIsSaidOnceAMinuteWhateverComesInBetween() {
    assertTrue(complaints.say("executor 1", "refused"));
    assertTrue(complaints.say("executor 2", "reset"));
    assertFalse(complaints.say("executor 3", "refused"));
    now.addAndGet(Duration.ofSeconds(59).toNanos());
    assertFalse(complaints.say("executor 1", "refused"));
    now.addAndGet(Duration.ofSeconds(1).toNanos());
    assertTrue(complaints.say("executor 1", "refused"));
  }
}
