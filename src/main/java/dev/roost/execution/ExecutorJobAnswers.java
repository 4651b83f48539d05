package dev.roost.execution;

import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.cluster.Waiting;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Answers with an ExecutorJob, now or when it has ended. */
@ApplicationScoped
public class ExecutorJobAnswers {
  private final Database database;
  private final Waiting waiting;
  private final Storage storage;
  private final RoostConfig config;
  private final ExecutionMeters meters;

  ExecutorJobAnswers(
      Database database,
      Waiting waiting,
      Storage storage,
      RoostConfig config,
      ExecutionMeters meters) {
    this.database = database;
    this.waiting = waiting;
    this.storage = storage;
    this.config = config;
    this.meters = meters;
  }

  /** A new job when it has ended, or in its current state after the timeout. */
  Uni<ExecutorJob.View> whenEnded(AwaitedJobs.Awaited awaited, String id, Duration wait) {
    long since = System.nanoTime();
    return waiting
        .afterChange(
            awaited.change(),
            id,
            wait,
            () ->
                awaited
                    .ended()
                    .or(() -> database.once(connection -> ExecutorJob.ended(connection, id))),
            () -> now(id))
        .invoke(view -> answered(view, since));
  }

  /** The job when it has ended, or in its current state after the timeout. */
  public Uni<ExecutorJob.View> whenEnded(String id, Duration wait) {
    if (wait.isZero()) {
      return Uni.createFrom().item(now(id));
    }
    long since = System.nanoTime();
    return waiting
        .until(id, wait, () -> ended(id), () -> now(id))
        .invoke(view -> answered(view, since));
  }

  private void answered(ExecutorJob.View view, long since) {
    if (view.finishedAt() != null) {
      meters.answered(view.id(), since);
    }
  }

  private Optional<ExecutorJob.View> ended(String id) {
    return Optional.of(now(id)).filter(view -> view.finishedAt() != null);
  }

  /**
   * @throws Problem not_found
   */
  ExecutorJob.View now(String id) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                ExecutorJob.view(id, limits())
                    .orElseThrow(() -> Problem.notFound("ExecutorJob", id)));
  }

  List<ExecutorJob.View> now(List<ExecutorJob> jobs) {
    ExecutorJob.Limits limits = limits();
    return jobs.stream().map(job -> ExecutorJob.View.of(job, limits)).toList();
  }

  private ExecutorJob.Limits limits() {
    return ExecutorJob.Limits.of(config, storage.reason(Storage.Area.PAYLOADS).orElse(null));
  }
}
