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
final class Waiters {
  private final ConcurrentLinkedDeque<Waiter> waiters = new ConcurrentLinkedDeque<>();
  private final AtomicLong orders = new AtomicLong();

  /**
   * What {@link #orders} was when a claim found nothing: as long as it is, asking again is in vain.
   */
  private final AtomicLong emptyAt = new AtomicLong(-1);

  /** An executor's poll. */
  record Waiter(Session session, CompletableFuture<Answer> answer) {
    /** Whether its executor has polled again since. */
    boolean isOld() {
      return answer != session.waiting;
    }

    void endWithoutWork() {
      answer.complete(new Answer.None());
    }
  }

  /** How many jobs were queued so far. */
  long orders() {
    return orders.get();
  }

  /** Counts a job that was queued; answers how many there were before. */
  long ordered() {
    return orders.getAndIncrement();
  }

  boolean isKnownEmpty() {
    return emptyAt.get() == orders.get();
  }

  /** A claim that began when there were so many orders has found nothing. */
  void foundEmpty(long seen) {
    emptyAt.set(seen);
  }

  /** Where nothing waited before this order, nothing waits after it was given. */
  void givenAtOnce(long before) {
    emptyAt.compareAndSet(before, before + 1);
  }

  /** There may be jobs that were not counted here. */
  void mayHoldMore() {
    emptyAt.set(-1);
  }

  void add(Waiter waiter) {
    waiters.addFirst(waiter);
  }

  /** The one that worked last, or null. */
  Waiter take() {
    return waiters.pollFirst();
  }

  boolean remove(Waiter waiter) {
    return waiters.remove(waiter);
  }

  /** Removes an executor's polls, of which there should be one at most. */
  List<Waiter> remove(String executorId) {
    return removeAll(
        waiters.stream()
            .filter(waiter -> waiter.session().executorId().equals(executorId))
            .toList());
  }

  List<Waiter> removeAll() {
    return removeAll(List.copyOf(waiters));
  }

  private List<Waiter> removeAll(List<Waiter> some) {
    List<Waiter> removed = new ArrayList<>(some);
    removed.removeIf(waiter -> !waiters.remove(waiter)); // Somebody else has answered it.
    return removed;
  }

  /**
   * An executor polls once at a time: an earlier poll that still waits here has lost its
   * connection.
   */
  void dropEarlierPoll(Session session) {
    CompletableFuture<Answer> earlier = session.waiting;
    if (earlier != null && waiters.removeIf(waiter -> waiter.answer() == earlier)) {
      earlier.complete(new Answer.None());
    }
  }
}
