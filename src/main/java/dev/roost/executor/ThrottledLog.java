package dev.roost.executor;

import dev.roost.runtime.Runtime.RuntimeUnavailable;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;

/** Logs repeated failures: the same cause, for any executor and in any pass, once per minute. */
final class ThrottledLog {
  private static final Duration AGAIN = Duration.ofMinutes(1);
  private static final int MOST_CAUSES = 50;
  private static final int LONGEST_CAUSE = 500;

  private final Logger log;
  private final LongSupplier nanoTime;
  private final Map<String, Long> loggedAt = new HashMap<>();

  ThrottledLog(Logger log) {
    this(log, System::nanoTime);
  }

  ThrottledLog(Logger log, LongSupplier nanoTime) {
    this.log = log;
    this.nanoTime = nanoTime;
  }

  /**
   * @param about what can't be done
   */
  void warn(String about, RuntimeUnavailable failure) {
    warn(about, failure.getMessage());
  }

  /**
   * @param about what can't be done; only the cause decides whether it was logged before
   * @return whether it was logged
   */
  synchronized boolean warn(String about, String cause) {
    String text = String.valueOf(cause);
    String cut = text.substring(0, Math.min(text.length(), LONGEST_CAUSE));
    long now = nanoTime.getAsLong();
    Long before = loggedAt.get(cut);
    if (before != null && now - before < AGAIN.toNanos()) {
      return false;
    }
    if (loggedAt.size() >= MOST_CAUSES) {
      loggedAt.clear();
    }
    loggedAt.put(cut, now);
    log.warnf("%s: %s", about, cut);
    return true;
  }
}
