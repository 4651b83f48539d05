package dev.roost.execution;

import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import dev.roost.api.Page;
import dev.roost.db.Conditions;
import dev.roost.db.Sql;
import dev.roost.state.ExecutionState;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
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
        return_value = :value, logs_truncated = :truncated, cpu_seconds = :cpu,
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

  /** Ends the Execution and its job in one statement: the usual case. */
  private static final Sql SUCCEED =
      Sql.of(
          "with ended as ("
              + END
              + """
              returning executor_job_id)
              update executor_job j set state = 'succeeded', finished_at = :now
              from ended where j.id = ended.executor_job_id and j.state = 'running'""");

  @Id public String id;
  public String executorJobId;
  public String agentId;
  public int agentRevision;
  public String buildId;
  public String executorId;
  public int attempt;

  @Enumerated(EnumType.STRING)
  public ExecutionState state;

  public String reason;
  public String message;
  public String error;
  public String returnValue;

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

  /** The number of the last stored frame. */
  public int acknowledged;

  public boolean hasEnded() {
    return state != ExecutionState.RUNNING;
  }

  /** The Execution that an executor runs now, according to the database. */
  public static Optional<Execution> runningOn(String executorId) {
    return find("executorId = ?1 and state = 'running'", executorId).firstResultOptional();
  }

  /** The ExecutorJob that each executor runs now, by the executor's identifier. */
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
        (succeeded ? SUCCEED : FINISH)
            .with("state", outcome.state())
            .with("reason", outcome.reason() == null ? null : outcome.reason().code())
            .with("message", outcome.message())
            .with("error", outcome.error())
            .with("value", outcome.returnValue())
            .with("truncated", outcome.logsTruncated())
            .with("cpu", outcome.cpuSeconds())
            .with("memory", outcome.maxMemoryBytes())
            .with("now", outcome.time())
            .with("acknowledged", progress.acknowledged())
            .with("entries", progress.logEntries())
            .with("bytes", progress.logBytes())
            .with("entered", progress.enteredAt())
            .with("id", id)
            .update(getEntityManager());
    return !succeeded
        && changed == 1
        && ExecutorJob.endAttempt(id, outcome, mayHaveEntered, random);
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

  static String listing(Conditions conditions) {
    return """
        select id, coalesce(octet_length(return_value), 0) + coalesce(octet_length(error), 0) as bytes
        from execution where %s order by id desc limit :most"""
        .formatted(conditions.text());
  }

  static List<Page.Sized> sizes(Filter filter, String cursor, int limit) {
    Conditions conditions = filter.conditions().and("id < :cursor", "cursor", cursor);
    return conditions
        .bind(listing(conditions))
        .with("most", limit + 1)
        .list(getEntityManager(), Page.Sized::of);
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
          execution.buildId,
          execution.attempt,
          execution.state,
          execution.reason,
          execution.message,
          JsonText.ofNullable(execution.error),
          JsonText.ofNullable(execution.returnValue),
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
