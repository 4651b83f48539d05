package dev.roost;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for conditions, with a limit. */
public final class Await {
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(120);

  private Await() {}

  /**
   * @param what for the message, when it doesn't come true
   */
  public static void until(String what, Callable<Boolean> condition) {
    long end = System.nanoTime() + LIMIT_NANOS;
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
