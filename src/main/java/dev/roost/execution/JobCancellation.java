package dev.roost.execution;

import dev.roost.agent.Agent;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.cluster.Signals;
import dev.roost.db.Sql;
import dev.roost.state.ExecutorJobState;
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

  /** Of a queued or suspended job; SQL, and HQL. */
  static final String MESSAGE =
      "case when attempts = 0 then 'Cancelled before it started.' else 'Cancelled while it waited.' end";

  private static final String[] QUEUED = {ExecutorJobState.QUEUED.code()};
  private static final String[] ALL_WAITING = {
    ExecutorJobState.QUEUED.code(), ExecutorJobState.SUSPENDED.code()
  };

  /** Which jobs are cancelled. */
  enum Of {
    BATCH("batch_id = :id"),
    AGENT("agent_id = :id"),
    ALL("cast(:id as text) is null");

    private final Sql cancelWaiting;
    private final Sql stopRunning;

    Of(String condition) {
      cancelWaiting =
          Sql.of(
              """
              update executor_job set state = 'cancelled', reason = :reason, message = %1$s, finished_at = :now
              where state = any(:states) and id in (
                select id from executor_job where state = any(:states) and id < :end and %2$s
                order by id limit :most for update)
              returning id"""
                  .formatted(MESSAGE, condition));
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
   * @param begun also running and suspended jobs
   * @throws Problem not_found
   */
  CancelledJobs cancel(Of of, String id, boolean begun) {
    String[] states = begun ? ALL_WAITING : QUEUED;
    Instant now = clock.instant();
    QuarkusTransaction.requiringNew().run(() -> requireThere(of, id));
    int cancelled = cancelWaiting(of, id, states, now);
    if (!begun) {
      return new CancelledJobs(cancelled, 0);
    }
    int stopping = stopRunning(of, id);
    // Jobs that were suspended in the meantime.
    return new CancelledJobs(cancelled + cancelWaiting(of, id, states, now), stopping);
  }

  private int cancelWaiting(Of of, String id, String[] states, Instant now) {
    int cancelled = 0;
    int step;
    do {
      List<String> jobs =
          QuarkusTransaction.requiringNew().call(() -> cancelSome(of, id, states, now));
      jobs.forEach(signals::fire);
      step = jobs.size();
      cancelled += step;
    } while (step == STEP);
    return cancelled;
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

  private List<String> cancelSome(Of of, String id, String[] states, Instant now) {
    return of.cancelWaiting
        .with("reason", ExecutionReason.CANCELLED.code())
        .with("states", states)
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
