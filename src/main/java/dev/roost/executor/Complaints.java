package dev.roost.executor;

import dev.roost.runtime.Runtime.RuntimeUnavailable;
import java.time.Duration;
import org.jboss.logging.Logger;

/**
 * Logs that the runtime can't be asked: what is the same for every executor and at each pass is
 * said once in a while.
 */
final class Complaints {
  private static final Duration AGAIN = Duration.ofSeconds(30);

  private final Logger log;
  private String last;
  private long saidAt;

  Complaints(Logger log) {
    this.log = log;
  }

  /**
   * @param about what can't be done
   */
  void say(String about, RuntimeUnavailable failure) {
    long now = System.nanoTime();
    if (!String.valueOf(failure.getMessage()).equals(last) || now - saidAt > AGAIN.toNanos()) {
      last = failure.getMessage();
      saidAt = now;
      log.warnf("%s: %s", about, last);
    }
  }
}
