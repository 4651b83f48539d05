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
  private static final long LONGEST_INTERVAL_MILLIS = 200;

  /**
   * What has taken long already is looked for less often: a look takes processor time from what it
   * waits for. A wait gets longer by a twentieth at most.
   */
  private static final int INTERVALS_OF_A_WAIT = 20;

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
    long began = System.nanoTime();
    long deadline = began + limit.toNanos();
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
      pause(interval(Duration.ofNanos(System.nanoTime() - began)));
    } while (System.nanoTime() < deadline);
    throw new AssertionError("not within " + limit.toSeconds() + " s: " + what, last);
  }

  private static long interval(Duration waited) {
    long share = waited.toMillis() / INTERVALS_OF_A_WAIT;
    return Math.min(Math.max(share, INTERVAL_MILLIS), LONGEST_INTERVAL_MILLIS);
  }

  /** Between two looks at something that tells of no change. */
  static void pause() {
    pause(INTERVAL_MILLIS);
  }

  private static void pause(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
