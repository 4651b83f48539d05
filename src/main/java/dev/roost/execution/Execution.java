package dev.roost.execution;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.api.Cursor;
import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import dev.roost.api.Page;
import dev.roost.api.Sort;
import dev.roost.datastore.Locks;
import dev.roost.db.Code;
import dev.roost.db.Conditions;
import dev.roost.db.Sql;
import dev.roost.state.ExecutionState;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** One attempt at an ExecutorJob. */
@Entity(name = "execution")
public class Execution extends PanacheEntityBase {
  private static final Sql RUNNING =
      Sql.of("select executor_id, executor_job_id from execution where state = 'running'");

  private static final String END =
      """
      update execution set state = :state, reason = :reason, message = :message, error = :error,
        return_value = :value, return_value_file_id = cast(:valueFile as text), logs_truncated = :truncated, cpu_seconds = :cpu,
        max_memory_bytes = :memory, finished_at = :now,
        acknowledged = coalesce(cast(:acknowledged as integer), acknowledged),
        log_entries = coalesce(cast(:entries as integer), log_entries),
        log_bytes = coalesce(cast(:bytes as bigint), log_bytes),
        entered_at = coalesce(cast(:entered as timestamptz), entered_at)
      where id = :id and state = 'running'
      """;

  /** More than the difference between the clocks that identifiers and times come from. */
  private static final Duration CLOCKS_DIFFER = Duration.ofMinutes(5);

  private static final Sql FINISH = Sql.of(END);

  /** The file stays as long as its job. */
  private static final Sql LINK_RETURN_VALUE =
      Sql.of(
          """
          insert into job_file (executor_job_id, kind, name, file_id, created_at)
          select executor_job_id, 'return_value', 'return_value', return_value_file_id, finished_at
          from execution where id = :id
          on conflict (executor_job_id, kind, name) do update set file_id = excluded.file_id""");

  private static final String END_JOB =
      """
      update executor_job j set state = 'succeeded', finished_at = :now
      from ended where j.id = ended.executor_job_id and j.state = 'running'
      """;

  /** Ends the Execution and its job in one statement: the usual case. */
  private static final Sql SUCCEED =
      Sql.of("with ended as (" + END + " returning executor_job_id) " + END_JOB);

  /** The same, if nothing of its frames is stored yet, with the end of its locks. */
  private static final String END_AT_ONCE =
      "with ended as ("
          + END
          + """
            and executor_id = :executor and acknowledged = 0
            returning *),
          job as ("""
          + END_JOB
          + "returning j.*),"
          + Locks.END;

  private static final Sql SUCCEED_AT_ONCE =
      Sql.of(
          END_AT_ONCE
              + """
              select executor_job_id as e_job, agent_id as e_agent, agent_revision as e_revision,
                concurrency_key as e_key, started_at as e_started, cold_start as e_cold
              from ended""");

  /** What {@link #read} reads, from a row named {@code e}. */
  static final String COLUMNS =
      """
      e.id as e_id, e.executor_job_id as e_job, e.agent_id as e_agent, e.agent_revision as e_revision, e.draft as e_draft,
      e.build_id as e_build, e.attempt as e_attempt, e.state as e_state, e.reason as e_reason,
      e.message as e_message, e.error as e_error, e.return_value as e_value, e.return_value_file_id as e_value_file,
      e.started_at as e_started,
      e.entered_at as e_entered, e.finished_at as e_finished, e.cold_start as e_cold,
      e.queued_seconds as e_queued, e.cpu_seconds as e_cpu, e.max_memory_bytes as e_memory,
      e.log_entries as e_entries, e.logs_truncated as e_truncated, e.progress as e_progress,
      e.progress_message as e_progress_message
      """;

  /** The same, and reads what a submitter gets. */
  private static final Sql SUCCEED_AND_READ =
      Sql.of(
          END_AT_ONCE
              + "select e.concurrency_key as e_key, "
              + ExecutorJob.COLUMNS
              + COLUMNS
              + "from ended e left join job j on j.id = e.executor_job_id");

  @Id public String id;
  public String executorJobId;
  public String agentId;
  public int agentRevision;

  /** Whether it ran a script of its job instead of its revision's. */
  public boolean draft;

  public String buildId;
  public String executorId;
  public int attempt;

  @Enumerated(EnumType.STRING)
  public ExecutionState state;

  public String reason;
  public String message;
  public String error;

  /** JSON text; of a large value the beginning. */
  public String returnValue;

  /** The file that has all of a large return value; or null. */
  public String returnValueFileId;

  /** When an executor got the job. */
  public Instant startedAt;

  /** When main was called; null until then, or when unknown. */
  public Instant enteredAt;

  public Instant finishedAt;
  public boolean coldStart;
  public double queuedSeconds;
  public Double cpuSeconds;
  public Long maxMemoryBytes;
  public int logEntries;
  public boolean logsTruncated;

  /** From 0 to 1, as the script has said; or null. */
  public Double progress;

  /** Null if the script has said nothing about it. */
  public String progressMessage;

  /** The number of the last stored frame. */
  public int acknowledged;

  public boolean hasEnded() {
    return state != ExecutionState.RUNNING;
  }

  /** What a {@link View} shows of it, without an entity manager. */
  static Execution read(ResultSet row) throws SQLException {
    Execution execution = new Execution();
    execution.id = row.getString("e_id");
    execution.executorJobId = row.getString("e_job");
    execution.agentId = row.getString("e_agent");
    execution.agentRevision = row.getInt("e_revision");
    execution.draft = row.getBoolean("e_draft");
    execution.buildId = row.getString("e_build");
    execution.attempt = row.getInt("e_attempt");
    execution.state = Code.parse(ExecutionState.class, row.getString("e_state"));
    execution.reason = row.getString("e_reason");
    execution.message = row.getString("e_message");
    execution.error = row.getString("e_error");
    execution.returnValue = row.getString("e_value");
    execution.returnValueFileId = row.getString("e_value_file");
    execution.startedAt = Sql.instant(row, "e_started");
    execution.enteredAt = Sql.instant(row, "e_entered");
    execution.finishedAt = Sql.instant(row, "e_finished");
    execution.coldStart = row.getBoolean("e_cold");
    execution.queuedSeconds = row.getDouble("e_queued");
    execution.cpuSeconds = row.getObject("e_cpu", Double.class);
    execution.maxMemoryBytes = row.getObject("e_memory", Long.class);
    execution.logEntries = row.getInt("e_entries");
    execution.logsTruncated = row.getBoolean("e_truncated");
    execution.progress = row.getObject("e_progress", Double.class);
    execution.progressMessage = row.getString("e_progress_message");
    return execution;
  }

  /** The Executions that an executor runs now, according to the database. */
  public static List<Execution> runningOn(String executorId) {
    return list("executorId = ?1 and state = 'running' order by id", executorId);
  }

  /** The ExecutorJob that each executor runs now, or one of them, by the executor's identifier. */
  public static Map<String, String> jobsByExecutor() {
    Map<String, String> jobs = new HashMap<>();
    RUNNING
        .with()
        .list(
            getEntityManager(),
            row -> jobs.put(row.getString("executor_id"), row.getString("executor_job_id")));
    return jobs;
  }

  /**
   * The contents of an Execution's frames so far.
   *
   * @param acknowledged the last frame's number
   * @param logEntries how many the executor has sent
   * @param logBytes of all entries that the executor has sent
   * @param enteredAt when main was called; null when this is stored already, or unknown
   */
  public record Progress(
      Integer acknowledged, Integer logEntries, Long logBytes, Instant enteredAt) {
    /** Nothing new. */
    public static final Progress NONE = new Progress(null, null, null, null);
  }

  /**
   * Ends an attempt and its ExecutorJob, or queues the job for another attempt, in the caller's
   * transaction. Changes nothing when the attempt had ended before.
   *
   * @param mayHaveEntered whether main may have been called although no frame says so
   * @return whether the job waits for another attempt now
   */
  static boolean finish(
      String id,
      Progress progress,
      Outcome outcome,
      boolean mayHaveEntered,
      RandomGenerator random) {
    boolean succeeded = outcome.state() == ExecutionState.SUCCEEDED;
    int changed =
        bind(succeeded ? SUCCEED : FINISH, id, progress, outcome).update(getEntityManager());
    if (changed == 1 && outcome.returnValueFileId() != null) {
      LINK_RETURN_VALUE.with("id", id).update(getEntityManager());
    }
    if (changed == 1 && outcome.state() == ExecutionState.SUSPENDED) {
      ExecutorJob.suspend(id, outcome);
      return false;
    }
    return !succeeded
        && changed == 1
        && ExecutorJob.endAttempt(id, outcome, mayHaveEntered, random);
  }

  /**
   * What is known of an Execution that has succeeded.
   *
   * @param job as its submitter gets it; null if it wasn't read, or had ended before
   */
  record Succeeded(
      String executorJobId,
      String agentId,
      int agentRevision,
      String concurrencyKey,
      Instant startedAt,
      boolean coldStart,
      ExecutorJob.View job) {
    private static Succeeded read(ResultSet row, ExecutorJob.View job) throws SQLException {
      return new Succeeded(
          row.getString("e_job"),
          row.getString("e_agent"),
          row.getInt("e_revision"),
          row.getString("e_key"),
          Sql.instant(row, "e_started"),
          row.getBoolean("e_cold"),
          job);
    }
  }

  /**
   * Ends an Execution, its job and its locks, by one statement, which is a transaction by itself.
   *
   * @param progress all that its executor has sent
   * @param outcome of a success
   * @param readJob whether the job is read as well
   * @return empty if nothing was changed: it is not this executor's, doesn't run, or some of its
   *     frames are stored already
   */
  static Optional<Succeeded> succeedAtOnce(
      Connection connection,
      String executorId,
      String id,
      Progress progress,
      Outcome outcome,
      boolean readJob)
      throws SQLException {
    return bind(readJob ? SUCCEED_AND_READ : SUCCEED_AT_ONCE, id, progress, outcome)
        .with("executor", executorId)
        .first(
            connection,
            row ->
                Succeeded.read(
                    row, readJob && row.getString("id") != null ? ExecutorJob.read(row) : null));
  }

  private static Sql.Bound bind(Sql statement, String id, Progress progress, Outcome outcome) {
    return statement
        .with("state", outcome.state())
        .with("reason", outcome.reason() == null ? null : outcome.reason().code())
        .with("message", outcome.message())
        .with("error", outcome.error())
        .with("value", outcome.returnValue())
        .with("valueFile", outcome.returnValueFileId())
        .with("truncated", outcome.logsTruncated())
        .with("cpu", outcome.cpuSeconds())
        .with("memory", outcome.maxMemoryBytes())
        .with("now", outcome.time())
        .with("acknowledged", progress.acknowledged())
        .with("entries", progress.logEntries())
        .with("bytes", progress.logBytes())
        .with("entered", progress.enteredAt())
        .with("id", id);
  }

  /**
   * Filters the list; null: no filter.
   *
   * @param agents their identifiers
   * @param issueId the issue that groups them with other failures
   * @param states empty: all
   * @param startedAfter inclusive
   * @param startedBefore exclusive
   */
  record Filter(
      String agentId,
      List<String> agents,
      Integer revision,
      String executorJobId,
      String scheduleId,
      String issueId,
      List<ExecutionState> states,
      String reason,
      Boolean draft,
      Instant startedAfter,
      Instant startedBefore) {

    Conditions conditions() {
      return new Conditions()
          .and("agent_id = :agent", "agent", agentId)
          .and(
              "agent_id = any(cast(:agents as text[]))",
              "agents",
              agents == null ? null : agents.toArray(String[]::new))
          .and("agent_revision = :revision", "revision", revision)
          .and("executor_job_id = :job", "job", executorJobId)
          .and(
              "executor_job_id in (select j.id from executor_job j where j.schedule_id = :schedule)",
              "schedule",
              scheduleId)
          .and(
              "id in (select x.execution_id from issue_execution x where x.issue_id = :issue)",
              "issue",
              issueId)
          .in("state", states)
          .and("reason = :reason", "reason", reason)
          .and("draft = :draft", "draft", draft)
          .and("started_at >= :after", "after", startedAfter)
          .and("started_at < :before", "before", startedBefore)
          // Identifiers sort by creation, so the primary key finds the rows of that time.
          .and("id >= :first", "first", idAt(startedAfter, CLOCKS_DIFFER.negated()))
          .and("id < :last", "last", idAt(startedBefore, CLOCKS_DIFFER));
    }

    private static String idAt(Instant time, Duration off) {
      return time == null ? null : Ids.first("exec", time.plus(off));
    }
  }

  /** What a list of Executions can be sorted by. */
  public enum Key implements Code {
    STARTED,
    DURATION;

    @Override
    @JsonValue
    public String code() {
      return Code.of(this);
    }
  }

  static String listing(Conditions conditions, boolean newestFirst) {
    return """
        select id, %s + coalesce(octet_length(error), 0) as bytes
        from execution where %s order by id %s limit :most"""
        .formatted(
            LargeValues.size("return_value"), conditions.text(), newestFirst ? "desc" : "asc");
  }

  static List<Page.Sized> sizes(Filter filter, boolean newestFirst, String cursor, int limit) {
    String after = newestFirst ? "id < :cursor" : "id > :cursor";
    Conditions conditions = filter.conditions().and(after, "cursor", cursor);
    return conditions
        .bind(listing(conditions, newestFirst))
        .with("most", limit + 1)
        .list(getEntityManager(), Page.Sized::of);
  }

  /**
   * @param micros its duration
   */
  record Timed(Page.Sized sized, long micros) {}

  /**
   * The newest {@link Count#MOST} Executions of the filter that have ended, by duration. An index
   * of durations would cost every execution; this many rows are read and sorted in milliseconds.
   *
   * @param position null: from the first
   */
  static List<Timed> byDuration(Filter filter, Sort<Key> sort, Sort.Position position, int limit) {
    Conditions conditions = filter.conditions().and("finished_at is not null", true);
    String statement =
        """
        select id, micros, bytes from (
          select id, cast(extract(epoch from finished_at - started_at) * 1000000 as bigint) as micros,
            %4$s + coalesce(octet_length(error), 0) as bytes
          from execution where %1$s order by id desc limit :bound) newest
        where %2$s order by micros %3$s, id %3$s limit :most"""
            .formatted(
                conditions.text(),
                position == null
                    ? "true"
                    : "(micros, id) %s (:micros, :id)".formatted(sort.after()),
                sort.direction(),
                LargeValues.size("return_value"));
    Sql.Bound bound = conditions.bind(statement).with("bound", Count.MOST).with("most", limit + 1);
    if (position != null) {
      bound.with("micros", micros(position)).with("id", position.id());
    }
    return bound.list(
        getEntityManager(), row -> new Timed(Page.Sized.of(row), row.getLong("micros")));
  }

  private static long micros(Sort.Position position) {
    if (!position.value().matches("-?\\d{1,18}")) {
      throw Cursor.invalid();
    }
    return Long.parseLong(position.value());
  }

  static Count count(Filter filter) {
    Conditions conditions = filter.conditions();
    return conditions
        .bind(Count.statement("execution where " + conditions.text()))
        .with("most", Count.MOST + 1)
        .first(getEntityManager(), Count::of)
        .orElseThrow();
  }

  /** An Execution, as the API shows it. */
  @Schema(name = "Execution")
  public record View(
      String id,
      @Schema(description = "The ExecutorJob of this attempt") String executorJobId,
      String agentId,
      @Schema(description = "The revision of the agent") int agentRevision,
      @Schema(
              description =
                  "Whether it is of a draft: an unsaved script, with everything else of the revision")
          boolean draft,
      @Schema(description = "The Build with the packages of the script") String buildId,
      @Schema(
              description =
                  "The number of the attempt, from 1. An attempt that was lost before main was called does "
                      + "not count, so its number may be used again")
          int attempt,
      @Schema(
              description =
                  "timed_out: it exceeded the agent's timeout. lost: its executor ended before the "
                      + "execution did")
          ExecutionState state,
      @Schema(
              implementation = ExecutionReason.class,
              type = SchemaType.STRING,
              nullable = true,
              description = "Why it did not succeed; null while it runs and if it succeeded")
          String reason,
      @Schema(
              nullable = true,
              description = "The reason as a message; null while it runs and if it succeeded")
          String message,
      @Schema(
              nullable = true,
              description =
                  "Where and why the script failed: an object with type (the exception's class, with its "
                      + "module unless that is builtins: KeyError, requests.exceptions.HTTPError), message (the "
                      + "text of the exception), traceback (as Python prints it, beginning with the first frame "
                      + "of the script, whose file name is agent.py; or null), line (the innermost line of the "
                      + "script, from 1; or null) and column (the position in that line, in characters from 1; or "
                      + "null, also for exceptions before Python 3.11). A message or traceback of more than 65536 "
                      + "characters is shortened in the middle. null if the execution has not failed, or failed "
                      + "without an exception, for example with the reason no_main, exited or deadline_exceeded.")
          JsonText error,
      @Schema(
              ref = "JsonText",
              description =
                  "The return value of main, any JSON value, with its exact text; null if main returned "
                      + "None or the execution has not succeeded")
          JsonText returnValue,
      @Schema(
              nullable = true,
              description =
                  "The file with the return value, if it has more than 256 KiB; null otherwise. If the storage of "
                      + "files has lost it, return_value is null")
          String returnValueFileId,
      @Schema(description = "When an executor claimed the job") Instant startedAt,
      @Schema(nullable = true, description = "When it ended; null while it runs")
          Instant finishedAt,
      @Schema(
              description =
                  "Whether it was the first execution of its executor, which takes longer")
          boolean coldStart,
      @Schema(description = "The durations of the phases") Timings timings,
      @Schema(
              description =
                  "The resources that the script's process and its child processes have used")
          Usage usage,
      @Schema(description = "The number of entries of its log, so far") int logEntries,
      @Schema(
              description =
                  "Whether the log exceeded roost.limits.log-bytes, so that entries before its end are "
                      + "omitted")
          boolean logsTruncated,
      @Schema(
              nullable = true,
              description = "What the script has said last with request.progress; null: nothing")
          ScriptProgress progress,
      @Schema(
              nullable = true,
              description =
                  "How its job was submitted; null unless the request has include=submission")
          Submission submission) {

    public static View of(Execution execution) {
      return of(execution, null);
    }

    static View of(Execution execution, Submission submission) {
      return new View(
          execution.id,
          execution.executorJobId,
          execution.agentId,
          execution.agentRevision,
          execution.draft,
          execution.buildId,
          execution.attempt,
          execution.state,
          execution.reason,
          execution.message,
          JsonText.ofNullable(execution.error),
          JsonText.ofNullable(execution.returnValue),
          execution.returnValueFileId,
          execution.startedAt,
          execution.finishedAt,
          execution.coldStart,
          new Timings(
              execution.queuedSeconds,
              seconds(execution.startedAt, execution.enteredAt),
              seconds(execution.enteredAt, execution.finishedAt)),
          new Usage(execution.cpuSeconds, execution.maxMemoryBytes),
          execution.logEntries,
          execution.logsTruncated,
          ScriptProgress.of(execution.progress, execution.progressMessage),
          submission);
    }

    /** The same with another return value. */
    View withReturnValue(JsonText value) {
      return new View(
          id,
          executorJobId,
          agentId,
          agentRevision,
          draft,
          buildId,
          attempt,
          state,
          reason,
          message,
          error,
          value,
          returnValueFileId,
          startedAt,
          finishedAt,
          coldStart,
          timings,
          usage,
          logEntries,
          logsTruncated,
          progress,
          submission);
    }

    private static Double seconds(Instant from, Instant to) {
      return from == null || to == null
          ? null
          : Math.max(0, Duration.between(from, to).toNanos() / 1e9);
    }
  }

  /** The duration of each step in seconds. */
  public record Timings(
      @Schema(
              description =
                  "Seconds from the submission, or from the end of the retry delay, until an executor "
                      + "claimed the job")
          double queued,
      @Schema(
              nullable = true,
              description =
                  "Seconds from the claim until main was called; null if main was not called or the time is "
                      + "unknown")
          Double starting,
      @Schema(
              nullable = true,
              description =
                  "Seconds from the call of main until the end; null while it runs, if main was not called, "
                      + "or if the time is unknown")
          Double running) {}

  /**
   * The usage of the script's process and all its descendants; null while it runs or when unknown.
   */
  public record Usage(
      @Schema(
              nullable = true,
              description = "CPU time in seconds; null while it runs or if it is unknown")
          Double cpuSeconds,
      @Schema(
              nullable = true,
              description = "Peak memory in bytes; null while it runs or if it is unknown")
          Long maxMemoryBytes) {}
}
