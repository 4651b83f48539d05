package dev.roost.executor;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * What this replica remembers of an executor that polls here. Lost with the process without harm:
 * the next poll makes it anew from the database.
 */
final class Session {
  private final String executorId;
  private final Target target;
  private final boolean once;
  private final Duration keepWarm;
  private volatile boolean prepared;

  /**
   * The Execution that was handed out and whose last frame has not come; null when there is none.
   */
  volatile String working;

  /** The answer that its latest poll waits for, or waited for. */
  volatile CompletableFuture<Answer> waiting;

  private volatile boolean served;
  private volatile long idleSince = System.nanoTime();
  private volatile boolean stale;

  /**
   * @param once whether it ends after one execution (isolation: pod)
   * @param served whether it has had an execution before
   */
  Session(String executorId, Target target, boolean once, Duration keepWarm, boolean served) {
    this.executorId = executorId;
    this.target = target;
    this.once = once;
    this.keepWarm = keepWarm;
    this.served = served;
  }

  String executorId() {
    return executorId;
  }

  Target target() {
    return target;
  }

  boolean isPrepared() {
    return prepared;
  }

  void prepared(boolean value) {
    prepared = value;
  }

  boolean hasServed() {
    return served;
  }

  /** Whether it takes work as soon as there is some. */
  boolean isFree() {
    return working == null && !isSpent() && !stale;
  }

  boolean isSpent() {
    return once && served;
  }

  void gotWork() {
    served = true;
  }

  void isIdleNow() {
    idleSince = System.nanoTime();
  }

  long idleSince() {
    return idleSince;
  }

  Duration warmthLeft() {
    return keepWarm.minusNanos(System.nanoTime() - idleSince);
  }

  /** Whether the agent has changed since: nothing will be ordered for this executor any more. */
  boolean isStale() {
    return stale;
  }

  void becomesStale() {
    stale = true;
  }
}
