package dev.roost.execution;

import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.cluster.Waiting;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** Answers with an ExecutorJob, now or when it has ended. */
@ApplicationScoped
public class ExecutorJobAnswers {
  private final Database database;
  private final Waiting waiting;
  private final Storage storage;
  private final RoostConfig config;
  private final ExecutionMeters meters;
  private final LargeValues values;

  ExecutorJobAnswers(
      Database database,
      Waiting waiting,
      Storage storage,
      RoostConfig config,
      ExecutionMeters meters,
      LargeValues values) {
    this.database = database;
    this.waiting = waiting;
    this.storage = storage;
    this.config = config;
    this.meters = meters;
    this.values = values;
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
                    .or(() -> database.once(connection -> ExecutorJob.ended(connection, id)))
                    .map(values::whole),
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
  public ExecutorJob.View now(String id) {
    return values.whole(
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    ExecutorJob.view(id, limits())
                        .orElseThrow(() -> Problem.notFound("ExecutorJob", id))));
  }

  /**
   * A page of jobs, newest first.
   *
   * @throws Problem unavailable: the storage of files can't be reached
   */
  Page<ExecutorJob.View> page(Supplier<ExecutorJob.Filter> filter, String cursor, int limit) {
    ExecutorJob.Limits limits = limits();
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                Page.fitting(
                    ExecutorJob.sizes(filter.get(), cursor, limit),
                    limit,
                    ids ->
                        ExecutorJob.<ExecutorJob>list("id in ?1 order by id desc", ids).stream()
                            .map(job -> ExecutorJob.View.of(job, limits))
                            .toList()))
        .map(values::whole);
  }

  private ExecutorJob.Limits limits() {
    return ExecutorJob.Limits.of(config, storage.reason(Storage.Area.PAYLOADS).orElse(null));
  }
}
