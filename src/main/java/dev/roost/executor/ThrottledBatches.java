package dev.roost.executor;

import dev.roost.cluster.Leadership;
import dev.roost.db.Database;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Throttles the removal of old rows: transactions that each hold few rows briefly, pauses between
 * them that leave the database to others, and only while this process is the leader.
 */
final class ThrottledBatches {
  private static final long SHORTEST_PAUSE_MILLIS = 5;
  private static final long LONGEST_PAUSE_MILLIS = 1_000;

  private final Database database;
  private final Leadership leadership;
  private final CountDownLatch stopped = new CountDownLatch(1);

  ThrottledBatches(Database database, Leadership leadership) {
    this.database = database;
    this.leadership = leadership;
  }

  /** Prevents any further step. */
  void stop() {
    stopped.countDown();
  }

  /** This process is no longer the leader, or is stopping: the next pass does the rest. */
  static final class Interrupted extends RuntimeException {
    private Interrupted() {
      super("interrupted", null, false, false);
    }
  }

  /**
   * Runs a step in its own transaction, and then pauses for about as long as the step took.
   *
   * @throws Interrupted
   */
  <T> T step(Database.Work<T> step) {
    pause(Duration.ZERO);
    long start = System.nanoTime();
    T result = database.inTransaction(step);
    long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    pause(Duration.ofMillis(Math.min(LONGEST_PAUSE_MILLIS, Math.max(SHORTEST_PAUSE_MILLIS, took))));
    return result;
  }

  /**
   * Repeats a step that removes at most {@code limit} rows until it removes fewer; returns the
   * total.
   *
   * @throws Interrupted
   */
  long steps(int limit, Database.Work<Integer> step) {
    long all = 0;
    while (true) {
      int removed = step(step);
      all += removed;
      if (removed < limit) {
        return all;
      }
    }
  }

  /**
   * @throws Interrupted
   */
  void pause(Duration duration) {
    try {
      if (stopped.await(duration.toMillis(), TimeUnit.MILLISECONDS) || !leadership.isHeld()) {
        throw new Interrupted();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Interrupted();
    }
  }
}
