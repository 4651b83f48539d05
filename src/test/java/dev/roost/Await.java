package dev.roost;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for conditions, with a limit. */
public final class Await {
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  private Await() {}

  /**
   * @param what for the message, when it doesn't come true
   */
  public static void until(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + LIMIT_NANOS;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("waited in vain until " + what);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }
}
