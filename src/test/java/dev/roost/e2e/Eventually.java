package dev.roost.e2e;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits for conditions, each with a limit. */
final class Eventually {
  /** Only a test that fails takes so long: a busy machine may need a minute to start a pod. */
  static final Duration LIMIT = Duration.ofMinutes(3);

  private static final long INTERVAL_MILLIS = 25;

  private Eventually() {}

  static void until(String what, Callable<Boolean> condition) {
    until(what, LIMIT, condition);
  }

  static void until(String what, Duration limit, Callable<Boolean> condition) {
    value(what, limit, () -> condition.call() ? Optional.of(true) : Optional.empty());
  }

  static <T> T value(String what, Callable<Optional<T>> source) {
    return value(what, LIMIT, source);
  }

  /**
   * The first value that the source has.
   *
   * @throws AssertionError when it has none within that time
   */
  static <T> T value(String what, Duration limit, Callable<Optional<T>> source) {
    long deadline = System.nanoTime() + limit.toNanos();
    Exception last = null;
    do {
      try {
        Optional<T> value = source.call();
        if (value.isPresent()) {
          return value.get();
        }
        last = null;
      } catch (Unreachable e) {
        last = e; // Roost may be starting.
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new AssertionError(what, e);
      }
      pause();
    } while (System.nanoTime() < deadline);
    throw new AssertionError("not within " + limit.toSeconds() + " s: " + what, last);
  }

  /** Between two looks at something that tells of no change. */
  static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(INTERVAL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
