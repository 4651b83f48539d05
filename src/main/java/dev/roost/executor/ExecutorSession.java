package dev.roost.executor;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * What this replica remembers of an executor that polls here. Lost with the process without harm:
 * the next poll makes it anew from the database.
 */
final class ExecutorSession {
  private final String executorId;
  private final RevisionKey target;
  private volatile boolean once;
  private volatile Duration keepWarm;
  private volatile boolean prepared;

  /**
   * The Execution that was handed out and whose last frame has not come; null when there is none.
   */
  volatile String working;

  /** The answer that its latest poll waits for, or waited for. */
  volatile CompletableFuture<PollAnswer> waiting;

  private volatile boolean served;
  private volatile long idleSince;
  private volatile boolean stale;

  /** The number of its latest poll; 0 when it doesn't count them. */
  private int polls;

  /**
   * @param once whether it ends after one execution (isolation: pod)
   * @param served whether it has had an execution before
   * @param idle for how long it has had none
   */
  ExecutorSession(
      String executorId,
      RevisionKey target,
      boolean once,
      Duration keepWarm,
      boolean served,
      Duration idle) {
    this.executorId = executorId;
    this.target = target;
    this.once = once;
    this.keepWarm = keepWarm;
    this.served = served;
    this.idleSince = System.nanoTime() - idle.toNanos();
  }

  /**
   * Notes a poll; answers whether it follows the latest one that came here.
   *
   * @param number null when the executor doesn't count its polls
   */
  synchronized boolean continuesWith(Integer number) {
    boolean follows = number == null || number == polls + 1;
    polls = number == null ? 0 : number;
    return follows;
  }

  String executorId() {
    return executorId;
  }

  RevisionKey target() {
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

  boolean isSpent() {
    return once && served;
  }

  void gotWork() {
    served = true;
  }

  /** What it was given has ended. */
  void hasWorked() {
    working = null;
    idleSince = System.nanoTime();
  }

  Duration warmthLeft() {
    return keepWarm.minusNanos(System.nanoTime() - idleSince);
  }

  /** The agent has these settings now. */
  void settings(boolean once, Duration keepWarm) {
    this.once = once;
    this.keepWarm = keepWarm;
  }

  /** Whether the agent has changed since: no job will be queued for this executor any more. */
  boolean isStale() {
    return stale;
  }

  void becomesStale() {
    stale = true;
  }
}
