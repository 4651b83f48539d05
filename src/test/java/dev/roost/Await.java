package dev.roost;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for conditions, with a limit. */
public final class Await {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private Await() {}

  /**
   * @param what for the message, when it doesn't come true
   */
  public static void until(String what, Callable<Boolean> condition) {
    until(what, LIMIT, condition);
  }

  /** Waits for so long at most. */
  public static void until(String what, Duration limit, Callable<Boolean> condition) {
    long end = System.nanoTime() + limit.toNanos();
    while (!isTrue(what, condition)) {
      if (System.nanoTime() > end) {
        throw new AssertionError("waited in vain until " + what);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  private static boolean isTrue(String what, Callable<Boolean> condition) {
    try {
      return condition.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(what, e);
    }
  }
}
