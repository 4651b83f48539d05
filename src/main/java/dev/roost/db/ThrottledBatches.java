package dev.roost.db;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Deletes many rows in short transactions of few rows each, with pauses between them that leave the
 * database to others, and only as long as this process may.
 */
public final class ThrottledBatches {
  private static final long SHORTEST_PAUSE_MILLIS = 5;
  private static final long LONGEST_PAUSE_MILLIS = 1_000;

  private final Database database;
  private final BooleanSupplier mayContinue;
  private final CountDownLatch stopped = new CountDownLatch(1);

  /**
   * @param mayContinue called before each transaction: whether this replica still leads
   */
  public ThrottledBatches(Database database, BooleanSupplier mayContinue) {
    this.database = database;
    this.mayContinue = mayContinue;
  }

  /** Prevents any further step. */
  public void stop() {
    stopped.countDown();
  }

  /** This process may not continue, or is stopping: the next pass does the rest. */
  public static final class Interrupted extends RuntimeException {
    private Interrupted() {
      super("interrupted", null, false, false);
    }
  }

  /**
   * Runs a step in its own transaction, and then pauses for about as long as the step took.
   *
   * @throws Interrupted
   */
  public <T> T step(Database.Work<T> step) {
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
  public long steps(int limit, Database.Work<Integer> step) {
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
  public void pause(Duration duration) {
    try {
      if (stopped.await(duration.toMillis(), TimeUnit.MILLISECONDS)
          || !mayContinue.getAsBoolean()) {
        throw new Interrupted();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Interrupted();
    }
  }
}
