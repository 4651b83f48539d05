package dev.roost.execution;

import dev.roost.api.JsonText;
import dev.roost.api.Page;
import dev.roost.config.RoostConfig;
import dev.roost.db.Code;
import dev.roost.db.Conditions;
import dev.roost.db.Sql;
import dev.roost.state.ExecutionState;
import dev.roost.state.ExecutorJobState;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import io.quarkus.panache.common.Parameters;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.hibernate.annotations.Formula;

/** The request to run an agent once. */
@Entity(name = "executor_job")
public class ExecutorJob extends PanacheEntityBase {
  private static final Sql ATTEMPT =
      Sql.of(
          """
          select j.id, j.attempts, j.cancel_requested, a.deleted_at is not null as agent_deleted, a.max_attempts,
            a.retry_delay_seconds, array_to_string(a.never_retry, ',') as never_retry,
            e.entered_at is not null as has_entered,
            (select count(*) from execution o
             where o.executor_job_id = j.id and o.state = 'lost' and o.id <> e.id) as lost_before
          from execution e join executor_job j on j.id = e.executor_job_id
          join agent a on a.id = j.agent_id
          where e.id = :execution
          """);

  private static final Sql LOCK =
      Sql.of(
          """
          select id from executor_job where id = (select executor_job_id from execution where id = :execution)
          for update""");

  /**
   * A call that has ended counts at once if it has ended meanwhile. What was over before, the
   * script would not wait for.
   */
  private static final Sql SUSPEND =
      Sql.of(
          """
          update executor_job j set
            state = case when w.over then 'cancelled' else 'suspended' end,
            awaits_all = :all,
            suspended_on = w.suspended_on,
            resume_at = case when not w.over then w.resume_at end,
            reason = case when w.over then :reason end, message = case when w.over then :message end,
            finished_at = case when w.over then cast(:now as timestamptz) end
          from (
            select o.id, o.cancel_requested or a.deleted_at is not null as over,
              case
                when t.waits = 0 then now() + interval '1 second'
                when t.ended > 0 and (t.ended = t.waits or not :all)
                  then case when t.ended_before then now() + interval '1 second' else now() end
                when t.until is not null then greatest(t.until, now() + interval '1 second') end as resume_at,
              t.suspended_on
            from execution e join executor_job o on o.id = e.executor_job_id join agent a on a.id = o.agent_id
            cross join lateral (
              select count(*) as waits, min(s.until) as until, count(v.ended_at) as ended,
                coalesce(bool_or(v.ended_at < e.started_at), false) as ended_before,
                case when bool_or(s.kind = 'approval') then 'approval' when bool_or(s.kind = 'event') then 'event' when bool_or(s.kind = 'call') then 'call'
                  else 'timer' end as suspended_on
              from executor_job_step s left join executor_job c on c.id = s.called_job_id
              cross join lateral (
                select coalesce(c.finished_at,
                  case when s.result is not null or s.error_type is not null then s.finished_at end) as ended_at) v
              where s.executor_job_id = o.id and s.seq = any(:waits)
                and (s.until is not null or s.kind is not null)) t
            where e.id = :execution) w
          where j.id = w.id and j.state = 'running'""");

  private static final Sql WAITING =
      Sql.of(
          """
          select case
              when b.state in ('queued', 'running') then 'build'
              when j.not_before > now() then 'retry_delay'
              when (select count(*) from execution e where e.agent_id = a.id and e.state = 'running')
                >= a.max_concurrency then 'concurrency'
              when not """
              + HeldKeys.FREE
              + """
                   then 'concurrency'
              when own.lacks_capacity then 'capacity'
              when own.state is null and (select count(*) from executor x where x.state <> 'ended' and x.agent_id is not null)
                >= :most then 'full'
              when own.state is null and other.message is not null then 'capacity'
              else 'executor' end as waiting_on,
            case when b.state in ('queued', 'running') then b.message else own.message end as message,
            other.message as other_message
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
          where j.id = :id
          """);

  /** What {@link #read} reads of a job {@code j}, besides its latest Execution. */
  static final String COLUMNS =
      """
      j.id, j.agent_id, j.agent_revision, j.schedule_id, j.scheduled_time, j.payload, j.payload_file_id, j.priority,
      j.draft_script is not null as draft, j.concurrency_key, j.batch_id, j.parent_id, j.state, j.reason, j.message, j.attempts, j.created_at, j.finished_at,
      """;

  private static final Sql ENDED =
      Sql.of(
          "select "
              + COLUMNS
              + Execution.COLUMNS
              + """
              from executor_job j left join execution e on e.id = j.latest_execution_id
              where j.id = :id and j.finished_at is not null""");

  private static final Sql DRAFT =
      Sql.of("select draft_script from executor_job where id = :id and draft_script is not null");

  @Id public String id;
  public String agentId;
  public int agentRevision;
  public String scheduleId;
  public Instant scheduledTime;

  /** JSON text, of a large one the beginning; null when none was given. */
  public String payload;

  /** The file that has all of a large payload; or null. */
  public String payloadFileId;

  /** Whether it runs a script of its own instead of its revision's. */
  @Formula("draft_script is not null")
  public boolean draft;

  /** Jobs with a higher priority are run first. */
  public int priority;

  /** Of an agent's jobs with the same key, one runs at a time; or null. */
  public String concurrencyKey;

  /** Whether it holds that key until it ends; see {@link HeldKeys}. */
  public boolean holdsKey;

  /** The first job of the batch, or null. */
  public String batchId;

  @Enumerated(EnumType.STRING)
  public ExecutorJobState state;

  public String reason;
  public String message;
  public int attempts;
  public Instant notBefore;

  /** When it continues; null unless it is suspended until a time. */
  public Instant resumeAt;

  /** What it waits for; null unless this release or a later one has suspended it. */
  public String suspendedOn;

  /** The job whose script has submitted it; null for most. */
  public String parentId;

  public boolean cancelRequested;
  public String latestExecutionId;
  public String idempotencyKey;

  @Column(name = "request_sha256")
  public byte[] requestSha256;

  public Instant createdAt;
  public Instant finishedAt;

  public boolean hasEnded() {
    return state.isFinal();
  }

  private record Attempt(String jobId, Retry.Attempt attempt, Retry.Rules rules) {}

  /**
   * Ends the job after an attempt without success, or queues it for another attempt; returns
   * whether it was queued.
   */
  static boolean endAttempt(
      String executionId, Outcome outcome, boolean mayHaveEntered, RandomGenerator random) {
    flush();
    Attempt ended =
        ATTEMPT
            .with("execution", executionId)
            .first(
                getEntityManager(),
                row ->
                    new Attempt(
                        row.getString("id"),
                        new Retry.Attempt(
                            outcome,
                            row.getInt("attempts"),
                            mayHaveEntered || row.getBoolean("has_entered"),
                            row.getLong("lost_before"),
                            row.getBoolean("cancel_requested"),
                            row.getBoolean("agent_deleted")),
                        new Retry.Rules(
                            row.getInt("max_attempts"),
                            row.getDouble("retry_delay_seconds"),
                            Set.of(row.getString("never_retry").split(",")))))
            .orElseThrow();
    String jobId = ended.jobId();
    boolean cancelRequested = ended.attempt().cancelRequested();
    Optional<Retry.Again> again = Retry.decide(ended.attempt(), ended.rules(), random);
    if (again.isPresent()) {
      update(
          "state = 'queued', notBefore = ?1, attempts = attempts - ?2 where id = ?3 and state = 'running'",
          outcome.time().plus(again.get().delay()),
          again.get().free() ? 1 : 0,
          jobId);
    } else {
      boolean cancelled = outcome.state() == ExecutionState.CANCELLED || cancelRequested;
      end(
          jobId,
          cancelled ? ExecutorJobState.CANCELLED : ExecutorJobState.FAILED,
          outcome.reason(),
          outcome.message(),
          outcome.time());
    }
    return again.isPresent();
  }

  /**
   * Ends an attempt's process while its script waits. The job continues when the first of the waits
   * is over, or all of them; at most once a second if there are none, which no executor sends.
   */
  static void suspend(String executionId, Outcome outcome) {
    // What ends a wait locks the job, too: either that is seen here, or it sees the suspended job.
    LOCK.with("execution", executionId).strings(getEntityManager());
    SUSPEND
        .with("execution", executionId)
        .with("waits", outcome.waits().numbers().toArray(Integer[]::new))
        .with("all", outcome.waits().all())
        .with("reason", ExecutionReason.CANCELLED.code())
        .with("message", "Cancelled while its script waited.")
        .with("now", outcome.time())
        .update(getEntityManager());
  }

  /** Ends a queued, running or suspended job. */
  private static boolean end(
      String id, ExecutorJobState state, ExecutionReason reason, String message, Instant now) {
    return update(
            """
            state = :state, reason = :reason, message = :message, finishedAt = :now
            where id = :id and state in ('queued', 'running', 'suspended')""",
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

  static boolean cancelWaiting(String id, Instant now) {
    return cancelWaiting("id", id, now) == 1;
  }

  /**
   * Ends an agent's queued and suspended jobs, and requests the cancellation of the running ones.
   */
  static void cancelAll(String agentId, Instant now) {
    cancelWaiting("agentId", agentId, now);
    update("cancelRequested = true where agentId = ?1 and state = 'running'", agentId);
    // Jobs that were suspended in the meantime.
    cancelWaiting("agentId", agentId, now);
  }

  private static int cancelWaiting(String column, String value, Instant now) {
    return update(
        "state = 'cancelled', reason = ?1, finishedAt = ?2, message = "
            + JobCancellation.MESSAGE
            + " where "
            + column
            + " = ?3 and state in ('queued', 'suspended')",
        ExecutionReason.CANCELLED.code(),
        now,
        value);
  }

  /** Requests the cancellation of a running job; returns false when the job is not running. */
  static boolean requestCancel(String id) {
    return update("cancelRequested = true where id = ?1 and state = 'running'", id) == 1;
  }

  /**
   * Filters the list; null: no filter.
   *
   * @param states empty: all
   */
  record Filter(
      String agentId,
      List<String> agents,
      String scheduleId,
      String batchId,
      String parentId,
      List<ExecutorJobState> states,
      String reason,
      Boolean draft) {
    Conditions conditions() {
      return new Conditions()
          .and("j.agent_id = :agent", "agent", agentId)
          .and(
              "j.agent_id = any(cast(:agents as text[]))",
              "agents",
              agents == null ? null : agents.toArray(String[]::new))
          .and("j.schedule_id = :schedule", "schedule", scheduleId)
          .and("j.batch_id = :batch", "batch", batchId)
          .and("j.parent_id = :parent", "parent", parentId)
          .in("j.state", states)
          .and("j.reason = :reason", "reason", reason)
          .and("(j.draft_script is not null) = :draft", "draft", draft);
    }
  }

  static Count count(Filter filter) {
    Conditions conditions = filter.conditions();
    String rows = "executor_job j where " + conditions.text() + " order by j.id";
    return conditions
        .bind(Count.statement("j.created_at", rows))
        .with("most", Count.MOST + 1)
        .first(getEntityManager(), Count::of)
        .orElseThrow();
  }

  /** The unsaved script that a job runs; empty for a job that runs its revision's. */
  static Optional<String> draftScript(String id) {
    return DRAFT.with("id", id).first(getEntityManager(), row -> row.getString("draft_script"));
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
        select j.id, %s + %s as bytes
        from executor_job j left join execution e on e.id = j.latest_execution_id
        where %s order by j.id desc limit :most"""
        .formatted(
            LargeValues.size("j.payload"), LargeValues.size("e.return_value"), conditions.text());
  }

  static List<Page.Sized> sizes(Filter filter, String cursor, int limit) {
    Conditions conditions = filter.conditions().and("j.id < :cursor", "cursor", cursor);
    return conditions
        .bind(listing(conditions))
        .with("most", limit + 1)
        .list(getEntityManager(), Page.Sized::of);
  }

  /**
   * @param execution null: no attempt has begun
   */
  private record Latest(ExecutorJob job, Execution execution) {}

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
            Latest.class)
        .setParameter("id", id)
        .getResultStream()
        .findFirst()
        .map(latest -> View.of(latest.job(), latest.execution(), limits));
  }

  /**
   * A job that has ended, with its latest Execution; empty if it hasn't ended, or doesn't exist.
   * Each caller that waits for a new job gets it, so a single statement reads it, without an entity
   * manager.
   */
  static Optional<View> ended(Connection connection, String id) throws SQLException {
    return ENDED.with("id", id).first(connection, ExecutorJob::read);
  }

  /** A job that has ended. */
  static View read(ResultSet row) throws SQLException {
    ExecutorJob job = new ExecutorJob();
    job.id = row.getString("id");
    job.agentId = row.getString("agent_id");
    job.agentRevision = row.getInt("agent_revision");
    job.scheduleId = row.getString("schedule_id");
    job.scheduledTime = Sql.instant(row, "scheduled_time");
    job.payload = row.getString("payload");
    job.payloadFileId = row.getString("payload_file_id");
    job.draft = row.getBoolean("draft");
    job.priority = row.getInt("priority");
    job.concurrencyKey = row.getString("concurrency_key");
    job.batchId = row.getString("batch_id");
    job.parentId = row.getString("parent_id");
    job.state = Code.parse(ExecutorJobState.class, row.getString("state"));
    job.reason = row.getString("reason");
    job.message = row.getString("message");
    job.attempts = row.getInt("attempts");
    job.createdAt = Sql.instant(row, "created_at");
    job.finishedAt = Sql.instant(row, "finished_at");
    Execution latest = row.getString("e_id") == null ? null : Execution.read(row);
    return View.of(job, latest, Waiting.NONE);
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
   * @param on null when the job doesn't wait
   * @param message what the build or executor itself waits for, or which storage is full; or null
   */
  private record Waiting(WaitingOn on, String message) {
    static final Waiting NONE = new Waiting(null, null);
  }

  /** While the storage is full, jobs that wait for one of these wait for storage first. */
  private static final Set<WaitingOn> WAIT_FOR_STORAGE =
      EnumSet.of(WaitingOn.CONCURRENCY, WaitingOn.CAPACITY, WaitingOn.EXECUTOR);

  private static Waiting waiting(ExecutorJob job, Limits limits) {
    if (job.state == ExecutorJobState.SUSPENDED) {
      return new Waiting(
          job.suspendedOn == null ? WaitingOn.TIMER : Code.parse(WaitingOn.class, job.suspendedOn),
          null);
    }
    if (job.state != ExecutorJobState.QUEUED) {
      return Waiting.NONE;
    }
    if (getEntityManager().isJoinedToTransaction()) {
      flush();
    }
    return WAITING
        .with("id", job.id)
        .with("most", limits.maxExecutors())
        .first(getEntityManager(), row -> waiting(row, limits))
        .orElseThrow();
  }

  private static Waiting waiting(ResultSet row, Limits limits) throws SQLException {
    WaitingOn on;
    String message = row.getString("message");
    if (row.getString("waiting_on").equals("full")) {
      on = WaitingOn.CAPACITY;
      message =
          "The limit of executors is reached: %d (setting %s)."
              .formatted(limits.maxExecutors(), limits.maxExecutorsSetting());
    } else {
      on = Code.parse(WaitingOn.class, row.getString("waiting_on"));
      if (on == WaitingOn.CAPACITY && message == null) {
        message = row.getString("other_message");
      }
    }
    return limits.full() != null && WAIT_FOR_STORAGE.contains(on)
        ? new Waiting(WaitingOn.STORAGE, limits.full())
        : new Waiting(on, message);
  }

  /** An ExecutorJob, as the API shows it. */
  @Schema(name = "ExecutorJob")
  public record View(
      String id,
      String agentId,
      @Schema(
              description =
                  "The revision that the job runs: the agent's running revision when the job was submitted")
          int agentRevision,
      @Schema(
              description =
                  "Whether it runs a draft: an unsaved script, with everything else of the revision")
          boolean draft,
      @Schema(
              nullable = true,
              description =
                  "The schedule that submitted it, including triggered runs; null if it was not submitted "
                      + "by a schedule")
          String scheduleId,
      @Schema(
              nullable = true,
              description =
                  "The scheduled time; null if the job was not submitted at a scheduled time")
          Instant scheduledTime,
      @Schema(
              ref = "JsonText",
              description = "Any JSON value, with its exact text; null if it was left out")
          JsonText payload,
      @Schema(
              nullable = true,
              description =
                  "The file with the payload, if it has more than 256 KiB; null otherwise. If the storage of files "
                      + "has lost it, payload is null")
          String payloadFileId,
      @Schema(
              description =
                  "The priority, -100 to 100. Jobs of the agent with a higher priority run first")
          int priority,
      @Schema(
              nullable = true,
              description =
                  "The concurrency key. Of the agent's jobs with the same key, one runs at a time; null for "
                      + "none")
          String concurrencyKey,
      @Schema(
              nullable = true,
              description = "The identifier of the batch; null if the job is not part of a batch")
          String batchId,
      @Schema(
              nullable = true,
              description = "The job whose script has called this one; null if there is none")
          String parentId,
      @Schema(
              description =
                  "queued: also before a retry. suspended: its script waits, without a process. failed: also if the last attempt timed out or was lost")
          ExecutorJobState state,
      @Schema(
              implementation = ExecutionReason.class,
              type = SchemaType.STRING,
              nullable = true,
              description = "Why it did not succeed; null until it has ended and if it succeeded")
          String reason,
      @Schema(
              nullable = true,
              description =
                  "The reason as a message. While the job is queued: what its build or executor waits for, "
                      + "or which capacity or storage is missing; null for none")
          String message,
      @Schema(
              nullable = true,
              description =
                  "Why it is queued: the agent's build, retry_delay, full storage, max_concurrency or its "
                      + "concurrency_key, no capacity for another executor (a quota, full nodes or the limit of "
                      + "executors), or an executor that is starting; timer, call, event or approval if it is suspended; null otherwise")
          WaitingOn waitingOn,
      @Schema(
              description =
                  "The number of attempts, without those that were lost before main was called")
          int attempts,
      @Schema(
              nullable = true,
              description = "When the retry delay ends; null if the job does not wait for a retry")
          Instant nextAttemptAt,
      @Schema(
              nullable = true,
              description =
                  "When it continues at the latest; null if it is not suspended, or waits without end for a call, an event or an approval")
          Instant resumeAt,
      @Schema(nullable = true, description = "The latest attempt; null before the first attempt")
          Execution.View execution,
      Instant createdAt,
      @Schema(nullable = true, description = "When it ended; null until it has ended")
          Instant finishedAt) {

    /** The same with another payload and execution. */
    View with(JsonText payload, Execution.View execution) {
      return new View(
          id,
          agentId,
          agentRevision,
          draft,
          scheduleId,
          scheduledTime,
          payload,
          payloadFileId,
          priority,
          concurrencyKey,
          batchId,
          parentId,
          state,
          reason,
          message,
          waitingOn,
          attempts,
          nextAttemptAt,
          resumeAt,
          execution,
          createdAt,
          finishedAt);
    }

    static View of(ExecutorJob job, Limits limits) {
      String latest = job.latestExecutionId;
      return of(job, latest == null ? null : Execution.findById(latest), limits);
    }

    private static View of(ExecutorJob job, Execution execution, Limits limits) {
      return of(job, execution, ExecutorJob.waiting(job, limits));
    }

    private static View of(ExecutorJob job, Execution execution, Waiting waiting) {
      return new View(
          job.id,
          job.agentId,
          job.agentRevision,
          job.draft,
          job.scheduleId,
          job.scheduledTime,
          JsonText.ofNullable(job.payload),
          job.payloadFileId,
          job.priority,
          job.concurrencyKey,
          job.batchId,
          job.parentId,
          job.state,
          job.reason,
          job.message == null ? waiting.message() : job.message,
          waiting.on(),
          job.attempts,
          waiting.on() == WaitingOn.RETRY_DELAY ? job.notBefore : null,
          job.state == ExecutorJobState.SUSPENDED ? job.resumeAt : null,
          execution == null ? null : Execution.View.of(execution),
          job.createdAt,
          job.finishedAt);
    }
  }
}
