package dev.roost.executor;

import dev.roost.execution.JobClaimer;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * This replica's state of an executor that polls here. Losing it is harmless: the next poll
 * restores it from the database.
 */
final class ExecutorSession {
  private static final Duration MOST_WARMTH = Duration.ofDays(1);

  private final String executorId;
  private final RevisionKey target;
  private volatile boolean once;
  private volatile Duration keepWarm;
  private volatile boolean prepared;
  private volatile boolean drafts;

  /** How many executions it runs at the same time. */
  private final int places;

  /** The Executions that were handed out and whose last frames have not arrived. */
  private final Set<String> working = ConcurrentHashMap.newKeySet();

  /** The answer to the latest poll, complete or not. */
  volatile CompletableFuture<PollAnswer> waiting;

  private volatile boolean served;
  private volatile long idleSince;
  private volatile boolean stale;
  private volatile boolean leaving;

  /** The number of the latest poll; 0 when the executor doesn't count its polls. */
  private int polls;

  /**
   * @param target null: the executor is in a pool
   * @param places how many executions it runs at the same time
   * @param once whether the executor ends after one execution (isolation: pod)
   * @param served whether the executor has had an execution before
   * @param idle how long the executor has been without an execution
   */
  ExecutorSession(
      String executorId,
      RevisionKey target,
      int places,
      boolean once,
      Duration keepWarm,
      boolean served,
      Duration idle) {
    this.executorId = executorId;
    this.target = target;
    this.places = places;
    this.once = once;
    this.keepWarm = keepWarm;
    this.served = served;
    this.idleSince = System.nanoTime() - idle.toNanos();
  }

  /** The session of an executor in a pool, until it gets an agent or is to stop. */
  static ExecutorSession inPool(String executorId) {
    return new ExecutorSession(executorId, null, 1, false, Duration.ZERO, false, Duration.ZERO);
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
        executorId, target.agentId(), target.agentRevision(), prepared, drafts, places);
  }

  /** What the executor says of itself with a poll. */
  void polled(Poll poll) {
    leaving = false;
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
    working.add(executionId);
    gotWork();
  }

  /** It has these Executions, by the database. */
  void has(Collection<String> executionIds) {
    working.addAll(executionIds);
  }

  /** What it was given and doesn't have: the answer was lost, or the last frame went elsewhere. */
  List<String> missing(Set<String> running) {
    return working.stream().filter(id -> !running.contains(id)).toList();
  }

  /** An Execution that it was given has ended. */
  void hasWorked(String executionId) {
    if (working.remove(executionId)) {
      idleSince = System.nanoTime();
    }
  }

  boolean isIdle() {
    return working.isEmpty();
  }

  /** Whether its process runs several executions at the same time, so that it polls meanwhile. */
  boolean isShared() {
    return places > 1;
  }

  /** How long it may still wait without work; not negative while it has work. */
  Duration warmthLeft() {
    return isIdle() ? keepWarm.minusNanos(System.nanoTime() - idleSince) : MOST_WARMTH;
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

  /** It gets no more work, and stops when it has none. */
  void leaves() {
    leaving = true;
  }

  boolean isLeaving() {
    return leaving || stale;
  }
}
