package dev.roost.intake;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory for bodies: whoever wants more than is left waits for those before. A body that is larger
 * than the whole budget is let in when there is no other.
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
   * Asks for memory.
   *
   * @return what gives it back, as soon as there is enough; more than once is harmless. Cancelled,
   *     the request loses its place
   */
  CompletableFuture<Runnable> reserve(long bytes) {
    Waiting waiting = new Waiting(Math.min(bytes, total), new CompletableFuture<>());
    List<Waiting> admitted;
    synchronized (this) {
      queue.add(waiting);
      admitted = admit();
    }
    tell(admitted);
    return waiting.admitted;
  }

  synchronized long used() {
    return used;
  }

  long total() {
    return total;
  }

  /** How many wait for memory. */
  synchronized int waiting() {
    return queue.size();
  }

  private void release(long bytes) {
    List<Waiting> admitted;
    synchronized (this) {
      used -= bytes;
      admitted = admit();
    }
    tell(admitted);
  }

  /** In the order of their coming, so that small ones don't keep a large one out for ever. */
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

  /** Without the lock: what they do next takes locks of their connections. */
  private void tell(List<Waiting> admitted) {
    for (Waiting waiting : admitted) {
      Release release = new Release(waiting.bytes);
      if (!waiting.admitted.complete(release)) {
        release.run(); // Cancelled meanwhile.
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
