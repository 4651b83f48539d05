package dev.roost.execution;

import dev.roost.cluster.Signals;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The jobs whose submitters wait on this replica for their end, by the first Execution. If that
 * Execution's frames arrive here, its end is passed on without reading it from the database again.
 */
@ApplicationScoped
class AwaitedJobs {
  private final Map<String, Awaited> byExecution = new ConcurrentHashMap<>();
  private final Signals signals;

  AwaitedJobs(Signals signals) {
    this.signals = signals;
  }

  /** A job whose end is awaited. */
  static final class Awaited {
    private final CompletableFuture<Void> change;
    private volatile ExecutorJob.View ended;

    private Awaited(CompletableFuture<Void> change) {
      this.change = change;
    }

    /** The job's next change. Cancelling it ends the wait. */
    CompletableFuture<Void> change() {
      return change;
    }

    /** The job that has ended, as far as it is known here. */
    Optional<ExecutorJob.View> ended() {
      return Optional.ofNullable(ended);
    }

    /** Call before the change is signalled. */
    void end(ExecutorJob.View view) {
      ended = view;
    }
  }

  /** Begins to wait for a job; call this before it is created. */
  Awaited await(NewJob job) {
    CompletableFuture<Void> change = signals.next(job.id());
    Awaited awaited = new Awaited(change);
    byExecution.put(job.executionId(), awaited);
    change.whenComplete((nothing, failure) -> byExecution.remove(job.executionId()));
    return awaited;
  }

  /** The job of that Execution, if its end is awaited here. */
  Optional<Awaited> of(String executionId) {
    return Optional.ofNullable(byExecution.get(executionId));
  }
}
