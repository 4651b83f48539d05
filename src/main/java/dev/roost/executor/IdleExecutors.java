package dev.roost.executor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The executors of one target that wait on this replica, most recently used first, and the number
 * of queued jobs.
 */
final class IdleExecutors {
  private final ConcurrentLinkedDeque<IdleExecutor> executors = new ConcurrentLinkedDeque<>();
  private final AtomicLong jobsQueued = new AtomicLong();

  /**
   * The value of {@link #jobsQueued} when a claim found nothing: until it changes, another claim is
   * useless.
   */
  private final AtomicLong emptyAt = new AtomicLong(-1);

  /** A target that no executor of a pool fits is not looked up for each of its jobs. */
  private static final long ASSIGN_EVERY_NANOS = 100_000_000;

  private volatile long notAssignedAt = System.nanoTime() - ASSIGN_EVERY_NANOS;

  /**
   * An executor's poll.
   *
   * @param expired set when it has waited as long as it may, even if it is not in the queue then
   */
  record IdleExecutor(
      ExecutorSession session, CompletableFuture<PollAnswer> answer, AtomicBoolean expired) {
    IdleExecutor(ExecutorSession session, CompletableFuture<PollAnswer> answer) {
      this(session, answer, new AtomicBoolean());
    }

    /** Whether the executor has polled again since. */
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

  /** Counts a queued job; returns the number of jobs before it. */
  long jobQueued() {
    return jobsQueued.getAndIncrement();
  }

  boolean isKnownEmpty() {
    return emptyAt.get() == jobsQueued.get();
  }

  /** Records that a claim found nothing, with the counter's value when the claim began. */
  void foundEmpty(long seen) {
    emptyAt.set(seen);
  }

  /** If nothing waited before this job, nothing waits after its assignment. */
  void givenAtOnce(long before) {
    emptyAt.compareAndSet(before, before + 1);
  }

  /** There may be jobs that this replica did not count. */
  void mayHoldMore() {
    emptyAt.set(-1);
  }

  /** Whether an executor of a pool may be assigned to the target, as far as is known here. */
  boolean mayBeAssigned() {
    return System.nanoTime() - notAssignedAt >= ASSIGN_EVERY_NANOS;
  }

  /** No executor of a pool fits, or the target needs none. */
  void notAssigned() {
    notAssignedAt = System.nanoTime();
  }

  void add(IdleExecutor executor) {
    executors.addFirst(executor);
  }

  /** Removes and returns the most recently used executor, or null. */
  IdleExecutor take() {
    return executors.pollFirst();
  }

  boolean remove(IdleExecutor executor) {
    return executors.remove(executor);
  }

  /** Removes an executor's polls; there should be at most one. */
  List<IdleExecutor> remove(String executorId) {
    return removeAll(
        executors.stream()
            .filter(executor -> executor.session().executorId().equals(executorId))
            .toList());
  }

  List<IdleExecutor> removeAll() {
    return removeAll(List.copyOf(executors));
  }

  private List<IdleExecutor> removeAll(List<IdleExecutor> some) {
    List<IdleExecutor> removed = new ArrayList<>(some);
    removed.removeIf(executor -> !executors.remove(executor)); // Another thread has answered it.
    return removed;
  }

  /** Ends an earlier poll of the executor: it polls once at a time, so that connection is lost. */
  void dropEarlierPoll(ExecutorSession session) {
    CompletableFuture<PollAnswer> earlier = session.waiting;
    if (earlier != null && executors.removeIf(executor -> executor.answer() == earlier)) {
      earlier.complete(new PollAnswer.None());
    }
  }
}
