package dev.roost.intake;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A memory budget for bodies: a request for more than the remaining memory waits for earlier
 * requests. A body larger than the whole budget is admitted when no other body is present.
 */
final class BodyBudget {
  private final long total;
  private final Queue<Waiting> queue = new ArrayDeque<>();
  private long used;

  /**
   * @param total bytes
   */
  BodyBudget(long total) {
    this.total = total;
  }

  private record Waiting(long bytes, CompletableFuture<Runnable> admitted) {}

  /**
   * Requests memory.
   *
   * @return completes when enough memory is free, with an action that releases the memory; repeated
   *     calls of the action are harmless. Cancellation removes the request from the queue
   */
  CompletableFuture<Runnable> reserve(long bytes) {
    Waiting waiting = new Waiting(Math.min(bytes, total), new CompletableFuture<>());
    List<Waiting> admitted;
    synchronized (this) {
      queue.add(waiting);
      admitted = admit();
    }
    complete(admitted);
    return waiting.admitted;
  }

  synchronized long used() {
    return used;
  }

  long total() {
    return total;
  }

  /** The number of requests that wait for memory. */
  synchronized int waiting() {
    return queue.size();
  }

  private void release(long bytes) {
    List<Waiting> admitted;
    synchronized (this) {
      used -= bytes;
      admitted = admit();
    }
    complete(admitted);
  }

  /** Admits requests in order of arrival, so that small bodies never starve a large body. */
  private List<Waiting> admit() {
    List<Waiting> admitted = new ArrayList<>();
    while (!queue.isEmpty()) {
      Waiting first = queue.peek();
      if (!first.admitted.isDone()) {
        if (used + first.bytes > total) {
          break;
        }
        used += first.bytes;
        admitted.add(first);
      }
      queue.remove();
    }
    return admitted;
  }

  /** Called without the lock, because continuations acquire locks of their connections. */
  private void complete(List<Waiting> admitted) {
    for (Waiting waiting : admitted) {
      Release release = new Release(waiting.bytes);
      if (!waiting.admitted.complete(release)) {
        release.run(); // cancelled in the meantime
      }
    }
  }

  private final class Release implements Runnable {
    private final AtomicLong bytes;

    Release(long bytes) {
      this.bytes = new AtomicLong(bytes);
    }

    @Override
    public void run() {
      long held = bytes.getAndSet(0);
      if (held > 0) {
        release(held);
      }
    }
  }
}
