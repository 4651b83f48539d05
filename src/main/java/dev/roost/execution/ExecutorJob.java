package dev.roost.execution;

import dev.roost.api.JsonText;
import dev.roost.config.RoostConfig;
import dev.roost.db.Conditions;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import io.quarkus.panache.common.Parameters;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The request to run an agent once. States: queued, running, then succeeded, failed or cancelled.
 */
@Entity(name = "executor_job")
public class ExecutorJob extends PanacheEntityBase {
  @Id public String id;
  public String agentId;
  public int agentRevision;
  public String scheduleId;
  public Instant scheduledTime;

  /** JSON text; null when none was given. */
  public String payload;

  /** Jobs with a higher priority are run first. */
  public int priority;

  /** Of an agent's jobs with the same key, one runs at a time; or null. */
  public String concurrencyKey;

  /** The first job of the batch, or null. */
  public String batchId;

  public String state;
  public String reason;
  public String message;
  public int attempts;
  public Instant notBefore;
  public boolean cancelRequested;
  public String latestExecutionId;
  public String idempotencyKey;

  @Column(name = "request_sha256")
  public byte[] requestSha256;

  public Instant createdAt;
  public Instant finishedAt;

  public boolean hasEnded() {
    return !state.equals("queued") && !state.equals("running");
  }

  /**
   * Ends the job after an attempt without success, or queues it for another attempt; returns
   * whether it was queued.
   */
  static boolean endAttempt(
      String executionId, Outcome outcome, boolean mayHaveEntered, RandomGenerator random) {
    Object[] row =
        (Object[])
            getEntityManager()
                .createNativeQuery(
                    """
                    select j.id, j.attempts, j.cancel_requested, a.deleted_at is not null, a.max_attempts,
                      a.retry_delay_seconds, array_to_string(a.never_retry, ','), e.entered_at is not null,
                      (select count(*) from execution o
                       where o.executor_job_id = j.id and o.state = 'lost' and o.id <> e.id)
                    from execution e join executor_job j on j.id = e.executor_job_id
                    join agent a on a.id = j.agent_id
                    where e.id = :execution""",
                    Object[].class)
                .setParameter("execution", executionId)
                .getSingleResult();
    String jobId = (String) row[0];
    boolean cancelRequested = (Boolean) row[2];
    Retry.Attempt attempt =
        new Retry.Attempt(
            outcome,
            (Integer) row[1],
            mayHaveEntered || (Boolean) row[7],
            ((Number) row[8]).longValue(),
            cancelRequested,
            (Boolean) row[3]);
    Retry.Rules rules =
        new Retry.Rules(
            (Integer) row[4],
            ((Number) row[5]).doubleValue(),
            Set.of(((String) row[6]).split(",")));
    Optional<Retry.Again> again = Retry.decide(attempt, rules, random);
    if (again.isPresent()) {
      update(
          "state = 'queued', notBefore = ?1, attempts = attempts - ?2 where id = ?3 and state = 'running'",
          outcome.time().plus(again.get().delay()),
          again.get().free() ? 1 : 0,
          jobId);
    } else {
      boolean cancelled = outcome.state().equals("cancelled") || cancelRequested;
      end(
          jobId,
          cancelled ? "cancelled" : "failed",
          outcome.reason(),
          outcome.message(),
          outcome.time());
    }
    return again.isPresent();
  }

  /** Ends a queued or running job. */
  private static boolean end(
      String id, String state, ExecutionReason reason, String message, Instant now) {
    return update(
            """
            state = :state, reason = :reason, message = :message, finishedAt = :now
            where id = :id and state in ('queued', 'running')""",
            Parameters.with("state", state)
                .and("reason", reason.code())
                .and("message", message)
                .and("now", now)
                .and("id", id))
        == 1;
  }

  /** Fails a queued job; returns false when the job is not queued. */
  public static boolean failQueued(String id, ExecutionReason reason, String message, Instant now) {
    return update(
            "state = 'failed', reason = ?1, message = ?2, finishedAt = ?3 where id = ?4 and state = 'queued'",
            reason.code(),
            message,
            now,
            id)
        == 1;
  }

  static boolean cancelQueued(String id, Instant now) {
    return cancelQueued("id", id, now) == 1;
  }

  /** Ends the queued jobs of a batch; returns their number. */
  static int cancelQueuedOf(String batchId, Instant now) {
    return cancelQueued("batchId", batchId, now);
  }

  /** Requests the cancellation of a batch's running jobs; returns their executions. */
  static List<String> requestCancelOf(String batchId) {
    update("cancelRequested = true where batchId = ?1 and state = 'running'", batchId);
    return getEntityManager()
        .createQuery(
            "select j.latestExecutionId from executor_job j where j.batchId = ?1 and j.state = 'running'",
            String.class)
        .setParameter(1, batchId)
        .getResultList();
  }

  /** Ends an agent's queued jobs, and requests the cancellation of the running ones. */
  static void cancelAll(String agentId, Instant now) {
    cancelQueued("agentId", agentId, now);
    update("cancelRequested = true where agentId = ?1 and state = 'running'", agentId);
  }

  private static int cancelQueued(String column, String value, Instant now) {
    return update(
        "state = 'cancelled', reason = ?1, message = ?2, finishedAt = ?3 where "
            + column
            + " = ?4 and state = 'queued'",
        ExecutionReason.CANCELLED.code(),
        "Cancelled before it started.",
        now,
        value);
  }

  /** Requests the cancellation of a running job; returns false when the job is not running. */
  static boolean requestCancel(String id) {
    return update("cancelRequested = true where id = ?1 and state = 'running'", id) == 1;
  }

  static final List<String> STATES =
      List.of("queued", "running", "succeeded", "failed", "cancelled");

  /**
   * Filters the list; null: no filter.
   *
   * @param states empty: all
   */
  record Filter(
      String agentId, String scheduleId, String batchId, List<String> states, String reason) {
    Conditions conditions() {
      return new Conditions()
          .and("j.agent_id = :agent", "agent", agentId)
          .and("j.schedule_id = :schedule", "schedule", scheduleId)
          .and("j.batch_id = :batch", "batch", batchId)
          .in("j.state", states)
          .and("j.reason = :reason", "reason", reason);
    }
  }

  /** The jobs of a batch, in the order of its payloads. */
  static List<String> idsOfBatch(String batchId) {
    return getEntityManager()
        .createQuery(
            "select j.id from executor_job j where j.batchId = ?1 order by j.id", String.class)
        .setParameter(1, batchId)
        .getResultList();
  }

  static String listing(Conditions conditions) {
    return """
        select j.id, coalesce(octet_length(j.payload), 0) + coalesce(octet_length(e.return_value), 0)
        from executor_job j left join execution e on e.id = j.latest_execution_id
        where %s order by j.id desc limit :most"""
        .formatted(conditions.text());
  }

  static List<Object[]> idsAndBytes(Filter filter, String cursor, int limit) {
    Conditions conditions = filter.conditions().and("j.id < :cursor", "cursor", cursor);
    return conditions
        .bind(getEntityManager().createNativeQuery(listing(conditions), Object[].class))
        .setParameter("most", limit + 1)
        .getResultList();
  }

  /**
   * A job with its latest Execution, by one query.
   *
   * @param limits what keeps jobs waiting
   */
  public static Optional<View> view(String id, Limits limits) {
    return getEntityManager()
        .createQuery(
            """
            select j, e from executor_job j left join execution e on e.id = j.latestExecutionId
            where j.id = :id""",
            Object[].class)
        .setParameter("id", id)
        .getResultStream()
        .findFirst()
        .map(row -> View.of((ExecutorJob) row[0], (Execution) row[1], limits));
  }

  /**
   * Limits on all jobs together that may keep a job waiting.
   *
   * @param full why the storage is full, so that no job starts; or null
   * @param maxExecutors the maximum number of executors at a time
   * @param maxExecutorsSetting the setting's name
   */
  public record Limits(String full, int maxExecutors, String maxExecutorsSetting) {
    static Limits of(RoostConfig config, String full) {
      return config.runtime().equals("kubernetes")
          ? new Limits(full, config.kubernetes().maxExecutors(), "roost.kubernetes.max-executors")
          : new Limits(full, config.local().maxExecutors(), "roost.local.max-executors");
    }
  }

  /**
   * What a job waits for.
   *
   * @param on "build", "retry_delay", "storage", "concurrency", "capacity" or "executor"; null when
   *     the job doesn't wait
   * @param message what the build or executor itself waits for, or which storage is full; or null
   */
  private record Waiting(String on, String message) {
    static final Waiting NONE = new Waiting(null, null);
  }

  /** While the storage is full, jobs that wait for one of these wait for storage first. */
  private static final Set<String> WAIT_FOR_STORAGE = Set.of("concurrency", "capacity", "executor");

  private static Waiting waiting(ExecutorJob job, Limits limits) {
    if (!job.state.equals("queued")) {
      return Waiting.NONE;
    }
    Object[] row =
        (Object[])
            getEntityManager()
                .createNativeQuery(
                    """
              select case
                when b.state in ('queued', 'running') then 'build'
                when j.not_before > now() then 'retry_delay'
                when (select count(*) from execution e where e.agent_id = a.id and e.state = 'running')
                  >= a.max_concurrency then 'concurrency'
                when exists (select 1 from execution e where e.agent_id = a.id and e.state = 'running'
                  and e.concurrency_key = j.concurrency_key) then 'concurrency'
                when own.lacks_capacity then 'capacity'
                when own.state is null and (select count(*) from executor x where x.state <> 'ended')
                  >= :most then 'full'
                when own.state is null and other.message is not null then 'capacity'
                else 'executor' end,
                case when b.state in ('queued', 'running') then b.message else own.message end,
                other.message
              from executor_job j join agent a on a.id = j.agent_id
              join agent_revision r on r.agent_id = j.agent_id and r.revision = j.agent_revision
              join builder_job b on b.id = r.builder_job_id
              left join lateral (
                select x.state, x.lacks_capacity, x.message from executor x
                where x.agent_id = a.id and x.agent_revision = j.agent_revision
                  and x.state in ('starting', 'ready')
                order by x.state = 'starting' and x.message is not null desc, x.id limit 1) own on true
              left join lateral (
                select x.message from executor x where x.state = 'starting' and x.lacks_capacity
                order by x.id limit 1) other on true
              where j.id = :id""",
                    Object[].class)
                .setParameter("id", job.id)
                .setParameter("most", limits.maxExecutors())
                .getSingleResult();
    String on = (String) row[0];
    String message = (String) row[1];
    if (on.equals("capacity") && message == null) {
      message = (String) row[2];
    }
    if (on.equals("full")) {
      on = "capacity";
      message =
          "There are as many executors as there may be: %d (setting %s)."
              .formatted(limits.maxExecutors(), limits.maxExecutorsSetting());
    }
    return limits.full() != null && WAIT_FOR_STORAGE.contains(on)
        ? new Waiting("storage", limits.full())
        : new Waiting(on, message);
  }

  /** An ExecutorJob, as the API shows it. */
  @Schema(name = "ExecutorJob")
  public record View(
      String id,
      String agentId,
      @Schema(
              description =
                  "The agent's running revision when the job was submitted; the job runs this one")
          int agentRevision,
      @Schema(
              nullable = true,
              description = "The schedule that made it, or was triggered; null: none")
          String scheduleId,
      @Schema(
              nullable = true,
              description =
                  "The time of the schedule for which it was made; null: for none, as when it was triggered")
          Instant scheduledTime,
      @Schema(
              ref = "JsonText",
              description = "Any JSON value, with its exact text; null also when none was given")
          JsonText payload,
      @Schema(description = "-100 to 100: of the agent's jobs, higher ones are run first")
          int priority,
      @Schema(
              nullable = true,
              description =
                  "Of the agent's jobs with the same one, one runs at a time; null: it has none")
          String concurrencyKey,
      @Schema(
              nullable = true,
              description = "The same for all jobs of a batch; null: not part of a batch")
          String batchId,
      @Schema(
              enumeration = {"queued", "running", "succeeded", "failed", "cancelled"},
              description =
                  "queued: also before a further attempt; failed: also when the last attempt timed out or was lost")
          String state,
      @Schema(
              implementation = ExecutionReason.class,
              type = SchemaType.STRING,
              nullable = true,
              description = "Why it did not succeed; null: it did, or it has not ended")
          String reason,
      @Schema(
              nullable = true,
              description =
                  "The reason in words; while it is queued, what the build or executor that it needs waits for,"
                      + " or what there is no capacity or space for; null: nothing to say")
          String message,
      @Schema(
              nullable = true,
              enumeration = {
                "build",
                "retry_delay",
                "storage",
                "concurrency",
                "capacity",
                "executor"
              },
              description =
                  "Why it is queued: the agent's build, retry_delay, no space for what it would store,"
                      + " max_concurrency or its concurrency_key, no capacity for another executor (a"
                      + " quota, full nodes or the most executors that there may be), or that an executor"
                      + " has to come; null: it is not queued")
          String waitingOn,
      @Schema(description = "How many were begun, without lost ones that had not entered main")
          int attempts,
      @Schema(
              nullable = true,
              description = "When the delay before a further attempt ends; null: it waits for none")
          Instant nextAttemptAt,
      @Schema(nullable = true, description = "The latest attempt; null: there is none yet")
          Execution.View execution,
      Instant createdAt,
      @Schema(nullable = true, description = "null: it has not ended") Instant finishedAt) {

    static View of(ExecutorJob job, Limits limits) {
      String latest = job.latestExecutionId;
      return of(job, latest == null ? null : Execution.findById(latest), limits);
    }

    private static View of(ExecutorJob job, Execution execution, Limits limits) {
      Waiting waiting = ExecutorJob.waiting(job, limits);
      return new View(
          job.id,
          job.agentId,
          job.agentRevision,
          job.scheduleId,
          job.scheduledTime,
          JsonText.ofNullable(job.payload),
          job.priority,
          job.concurrencyKey,
          job.batchId,
          job.state,
          job.reason,
          job.message == null ? waiting.message() : job.message,
          waiting.on(),
          job.attempts,
          "retry_delay".equals(waiting.on()) ? job.notBefore : null,
          execution == null ? null : Execution.View.of(execution),
          job.createdAt,
          job.finishedAt);
    }
  }
}
