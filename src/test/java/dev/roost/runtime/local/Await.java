package dev.roost.runtime.local;

import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for a condition, with a limit. */
final class Await {
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private Await() {}

  static void until(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() > deadline) {
        fail("still not so after " + LIMIT + ": " + what);
      }
      Thread.onSpinWait();
      Thread.sleep(5);
    }
  }
}
