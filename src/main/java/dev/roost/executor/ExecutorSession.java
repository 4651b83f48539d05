package dev.roost.executor;

import dev.roost.execution.JobClaimer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * This replica's state of an executor that polls here. Losing it is harmless: the next poll
 * restores it from the database.
 */
final class ExecutorSession {
  private final String executorId;
  private final RevisionKey target;
  private volatile boolean once;
  private volatile Duration keepWarm;
  private volatile boolean prepared;
  private volatile boolean drafts;

  /**
   * The Execution that was handed out and whose last frame has not arrived; null when there is
   * none.
   */
  volatile String working;

  /** The answer to the latest poll, complete or not. */
  volatile CompletableFuture<PollAnswer> waiting;

  private volatile boolean served;
  private volatile long idleSince;
  private volatile boolean stale;

  /** The number of the latest poll; 0 when the executor doesn't count its polls. */
  private int polls;

  /**
   * @param target null: the executor is in a pool
   * @param once whether the executor ends after one execution (isolation: pod)
   * @param served whether the executor has had an execution before
   * @param idle how long the executor has been without an execution
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

  /** The session of an executor in a pool, until it gets an agent or is to stop. */
  static ExecutorSession inPool(String executorId) {
    return new ExecutorSession(executorId, null, false, Duration.ZERO, false, Duration.ZERO);
  }

  /**
   * Records a poll; returns whether it follows the latest poll that arrived here.
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

  /** Null: the executor is in a pool. */
  RevisionKey target() {
    return target;
  }

  boolean isInPool() {
    return target == null;
  }

  boolean isOf(String agentId) {
    return target != null && target.agentId().equals(agentId);
  }

  JobClaimer.Claimant claimant() {
    return new JobClaimer.Claimant(
        executorId, target.agentId(), target.agentRevision(), prepared, drafts);
  }

  /** What the executor says of itself with a poll. */
  void polled(Poll poll) {
    prepared = poll.prepared();
    drafts = poll.drafts();
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

  void getsWork(String executionId) {
    working = executionId;
    gotWork();
  }

  /** The execution that it was given has ended. */
  void hasWorked() {
    working = null;
    idleSince = System.nanoTime();
  }

  Duration warmthLeft() {
    return keepWarm.minusNanos(System.nanoTime() - idleSince);
  }

  void settings(boolean once, Duration keepWarm) {
    this.once = once;
    this.keepWarm = keepWarm;
  }

  /** Whether the agent has changed: no more jobs will be queued for this executor. */
  boolean isStale() {
    return stale;
  }

  void becomesStale() {
    stale = true;
  }
}
