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
 * Tells of many jobs that were queued together, in the background: each may be handed to an
 * executor on the way, which takes a transaction, and whoever has queued them has more to do.
 */
@ApplicationScoped
public class QueuedJobs {
  private static final Logger LOG = Logger.getLogger(QueuedJobs.class);

  /** Enough to keep the database busy, and few enough to leave connections to requests. */
  private static final int WORKERS = 3;

  private final Event<ExecutorJobQueued> events;
  private final ExecutorService executor;
  private final Queue<ExecutorJobQueued> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger workers = new AtomicInteger();

  QueuedJobs(Event<ExecutorJobQueued> events, ExecutorService executor) {
    this.events = events;
    this.executor = executor;
  }

  /** Answers at once. After the transaction that queued the jobs. */
  public void tell(List<ExecutorJobQueued> jobs) {
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
      // This process stops. The jobs are in the database: another one finds them.
      workers.decrementAndGet();
    }
  }

  private void work() {
    try {
      for (ExecutorJobQueued job = waiting.poll(); job != null; job = waiting.poll()) {
        events.fire(job);
      }
    } catch (RuntimeException e) {
      LOG.warnf("executors can't be told of all queued jobs: %s", e.getMessage());
    } finally {
      workers.decrementAndGet();
      if (!waiting.isEmpty()) {
        startWorker();
      }
    }
  }
}
