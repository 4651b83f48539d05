package dev.roost.execution;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.logging.Logger;

/**
 * Announces many jobs that were queued together, in the background: handing each job to an executor
 * takes a transaction, which must not delay the caller.
 */
@ApplicationScoped
public class QueuedJobs {
  private static final Logger LOG = Logger.getLogger(QueuedJobs.class);

  /** Enough to keep the database busy, and few enough to leave connections for requests. */
  private static final int WORKERS = 3;

  private final Event<ExecutorJobQueued> events;
  private final ExecutorService executor;
  private final Queue<ExecutorJobQueued> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger workers = new AtomicInteger();

  QueuedJobs(Event<ExecutorJobQueued> events, ExecutorService executor) {
    this.events = events;
    this.executor = executor;
  }

  /** Returns at once. Call this after the transaction that queued the jobs. */
  public void announce(List<ExecutorJobQueued> jobs) {
    waiting.addAll(jobs);
    for (int i = Math.min(WORKERS, jobs.size()); i > 0; i--) {
      startWorker();
    }
  }

  private void startWorker() {
    if (workers.incrementAndGet() > WORKERS) {
      workers.decrementAndGet();
      return;
    }
    try {
      executor.execute(this::work);
    } catch (RejectedExecutionException e) {
      // This process is stopping. The jobs are in the database, where another process finds them.
      workers.decrementAndGet();
    }
  }

  private void work() {
    try {
      for (ExecutorJobQueued job = waiting.poll(); job != null; job = waiting.poll()) {
        events.fire(job);
      }
    } catch (RuntimeException e) {
      LOG.warnf("not all queued jobs can be announced to executors: %s", e.getMessage());
    } finally {
      workers.decrementAndGet();
      if (!waiting.isEmpty()) {
        startWorker();
      }
    }
  }
}
