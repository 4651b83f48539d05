package dev.roost.executor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The executors of one target that wait on this replica, the one that worked last first, and how
 * often a job was queued.
 */
final class IdleExecutors {
  private final ConcurrentLinkedDeque<IdleExecutor> waiters = new ConcurrentLinkedDeque<>();
  private final AtomicLong jobsQueued = new AtomicLong();

  /**
   * What {@link #jobsQueued} was when a claim found nothing: as long as it is, asking again is in
   * vain.
   */
  private final AtomicLong emptyAt = new AtomicLong(-1);

  /** An executor's poll. */
  record IdleExecutor(ExecutorSession session, CompletableFuture<PollAnswer> answer) {
    /** Whether its executor has polled again since. */
    boolean isOld() {
      return answer != session.waiting;
    }

    void endWithoutWork() {
      answer.complete(new PollAnswer.None());
    }
  }

  /** How many jobs were queued so far. */
  long jobsQueued() {
    return jobsQueued.get();
  }

  /** Counts a job that was queued; answers how many there were before. */
  long jobQueued() {
    return jobsQueued.getAndIncrement();
  }

  boolean isKnownEmpty() {
    return emptyAt.get() == jobsQueued.get();
  }

  /** A claim that began when so many jobs had been queued has found nothing. */
  void foundEmpty(long seen) {
    emptyAt.set(seen);
  }

  /** Where nothing waited before this job, nothing waits after it was assigned. */
  void givenAtOnce(long before) {
    emptyAt.compareAndSet(before, before + 1);
  }

  /** There may be jobs that were not counted here. */
  void mayHoldMore() {
    emptyAt.set(-1);
  }

  void add(IdleExecutor waiter) {
    waiters.addFirst(waiter);
  }

  /** The one that worked last, or null. */
  IdleExecutor take() {
    return waiters.pollFirst();
  }

  boolean remove(IdleExecutor waiter) {
    return waiters.remove(waiter);
  }

  /** Removes an executor's polls, of which there should be one at most. */
  List<IdleExecutor> remove(String executorId) {
    return removeAll(
        waiters.stream()
            .filter(waiter -> waiter.session().executorId().equals(executorId))
            .toList());
  }

  List<IdleExecutor> removeAll() {
    return removeAll(List.copyOf(waiters));
  }

  private List<IdleExecutor> removeAll(List<IdleExecutor> some) {
    List<IdleExecutor> removed = new ArrayList<>(some);
    removed.removeIf(waiter -> !waiters.remove(waiter)); // Somebody else has answered it.
    return removed;
  }

  /**
   * An executor polls once at a time: an earlier poll that still waits here has lost its
   * connection.
   */
  void dropEarlierPoll(ExecutorSession session) {
    CompletableFuture<PollAnswer> earlier = session.waiting;
    if (earlier != null && waiters.removeIf(waiter -> waiter.answer() == earlier)) {
      earlier.complete(new PollAnswer.None());
    }
  }
}
