package dev.roost.execution;

import dev.roost.agent.Agent;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.cluster.Signals;
import dev.roost.db.Sql;
import dev.roost.state.ExecutorJobState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** Cancels many ExecutorJobs with one request. */
@ApplicationScoped
class JobCancellation {
  /** The jobs that one transaction cancels: more would keep others from the rows for long. */
  private static final int STEP = 1_000;

  private final EntityManager entities;
  private final Signals signals;
  private final Event<ConcurrencyKeyFreed> freed;
  private final Clock clock;

  JobCancellation(
      EntityManager entities, Signals signals, Event<ConcurrencyKeyFreed> freed, Clock clock) {
    this.entities = entities;
    this.signals = signals;
    this.freed = freed;
    this.clock = clock;
  }

  /** Of a queued or suspended job; SQL, and HQL. */
  static final String MESSAGE =
      "case when attempts = 0 then 'Cancelled before it started.' else 'Cancelled while it waited.' end";

  /** Which jobs are cancelled. */
  enum Of {
    BATCH("batch_id = :id"),
    AGENT("agent_id = :id"),
    ALL("cast(:id as text) is null");

    private final Sql cancelQueued;
    private final Sql cancelSuspended;
    private final Sql stopRunning;

    Of(String condition) {
      cancelQueued = cancel(ExecutorJobState.QUEUED, condition);
      cancelSuspended = cancel(ExecutorJobState.SUSPENDED, condition);
      stopRunning =
          Sql.of(
              "update executor_job set cancel_requested = true where state = 'running' and "
                  + condition
                  + " returning id, latest_execution_id");
    }

    /** Of one state, so that its index finds them. */
    private static Sql cancel(ExecutorJobState state, String condition) {
      return Sql.of(
          """
          update executor_job set state = 'cancelled', reason = :reason, message = %1$s, finished_at = :now
          where state = '%2$s' and id in (
            select id from executor_job where state = '%2$s' and id < :end and %3$s order by id limit :most for update)
          returning id, case when holds_key then agent_id end as freed"""
              .formatted(MESSAGE, state.code(), condition));
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
    Instant now = clock.instant();
    QuarkusTransaction.requiringNew().run(() -> requireThere(of, id));
    int cancelled = cancel(of.cancelQueued, id, now);
    int stopping = 0;
    if (begun) {
      stopping = stopRunning(of, id);
      cancelled += cancel(of.cancelSuspended, id, now);
    }
    return new CancelledJobs(cancelled, stopping);
  }

  private int cancel(Sql some, String id, Instant now) {
    int cancelled = 0;
    int step;
    do {
      List<Cancelled> jobs =
          QuarkusTransaction.requiringNew().call(() -> cancelSome(some, id, now));
      jobs.forEach(job -> signals.fire(job.id()));
      jobs.stream()
          .map(Cancelled::freed)
          .filter(Objects::nonNull)
          .distinct()
          .forEach(agent -> freed.fire(new ConcurrencyKeyFreed(agent)));
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

  /**
   * @param freed the agent of which it held a concurrency key, or null
   */
  private record Cancelled(String id, String freed) {}

  private List<Cancelled> cancelSome(Sql some, String id, Instant now) {
    return some.with("reason", ExecutionReason.CANCELLED.code())
        .with("now", now)
        .with("end", Ids.first("xjob", now.plusMillis(1)))
        .with("id", id)
        .with("most", STEP)
        .list(entities, row -> new Cancelled(row.getString("id"), row.getString("freed")));
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
