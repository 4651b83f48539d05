package dev.roost.execution;

import dev.roost.agent.Agent;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.cluster.Signals;
import dev.roost.db.Sql;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** Cancels many ExecutorJobs with one request. */
@ApplicationScoped
class JobCancellation {
  /**
   * The queued jobs that one transaction cancels: more would keep others from the rows for long.
   */
  private static final int STEP = 1_000;

  private final EntityManager entities;
  private final Signals signals;
  private final Clock clock;

  JobCancellation(EntityManager entities, Signals signals, Clock clock) {
    this.entities = entities;
    this.signals = signals;
    this.clock = clock;
  }

  /** Which jobs are cancelled. */
  enum Of {
    BATCH("batch_id = :id"),
    AGENT("agent_id = :id"),
    ALL("cast(:id as text) is null");

    private final Sql cancelQueued;
    private final Sql stopRunning;

    Of(String condition) {
      cancelQueued =
          Sql.of(
              """
              update executor_job set state = 'cancelled', reason = :reason, message = :message, finished_at = :now
              where state in ('queued', 'suspended') and id in (
                select id from executor_job where state in ('queued', 'suspended') and id < :end and %s
                order by id limit :most for update)
              returning id"""
                  .formatted(condition));
      stopRunning =
          Sql.of(
              "update executor_job set cancel_requested = true where state = 'running' and "
                  + condition
                  + " returning id, latest_execution_id");
    }
  }

  /** The result of cancelling jobs. */
  @Schema(name = "CancelledJobs")
  record CancelledJobs(
      @Schema(description = "Jobs that were queued or suspended, and are cancelled") int cancelled,
      @Schema(description = "Jobs that were running; their executions are being cancelled")
          int stopping) {}

  /**
   * Cancels the jobs that were submitted before this call.
   *
   * @param id of the batch or the agent; null for all
   * @param running also running jobs
   * @throws Problem not_found
   */
  CancelledJobs cancel(Of of, String id, boolean running) {
    Instant now = clock.instant();
    QuarkusTransaction.requiringNew().run(() -> requireThere(of, id));
    int cancelled = 0;
    int step;
    do {
      List<String> jobs = QuarkusTransaction.requiringNew().call(() -> cancelQueued(of, id, now));
      jobs.forEach(signals::fire);
      step = jobs.size();
      cancelled += step;
    } while (step == STEP);
    int stopping = running ? stopRunning(of, id) : 0;
    return new CancelledJobs(cancelled, stopping);
  }

  private static void requireThere(Of of, String id) {
    switch (of) {
      case BATCH -> {
        if (ExecutorJob.count("batchId", id) == 0) {
          throw Problem.notFound("batch", id);
        }
      }
      case AGENT -> Agent.require(id);
      case ALL -> {}
    }
  }

  private List<String> cancelQueued(Of of, String id, Instant now) {
    return of.cancelQueued
        .with("reason", ExecutionReason.CANCELLED.code())
        .with("message", "Cancelled before it started.")
        .with("now", now)
        .with("end", Ids.first("xjob", now.plusMillis(1)))
        .with("id", id)
        .with("most", STEP)
        .strings(entities);
  }

  private int stopRunning(Of of, String id) {
    record Stopped(String job, String execution) {}
    List<Stopped> stopped =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    of.stopRunning
                        .with("id", id)
                        .list(
                            entities,
                            row ->
                                new Stopped(
                                    row.getString("id"), row.getString("latest_execution_id"))));
    for (Stopped each : stopped) {
      signals.fire(each.job());
      signals.fire(ExecutorJobs.cancelTopic(each.execution()));
    }
    return stopped.size();
  }
}
