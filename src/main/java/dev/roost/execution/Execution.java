package dev.roost.execution;

import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import dev.roost.db.Conditions;
import dev.roost.db.Sql;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Entity;
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

/**
 * One attempt at an ExecutorJob. States: running, then succeeded, failed, timed_out, cancelled or
 * lost.
 */
@Entity(name = "execution")
public class Execution extends PanacheEntityBase {
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

  static final List<String> STATES =
      List.of("running", "succeeded", "failed", "timed_out", "cancelled", "lost");

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
  public String state;
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
    return !state.equals("running");
  }

  /** The Execution that an executor runs now, according to the database. */
  public static Optional<Execution> runningOn(String executorId) {
    return find("executorId = ?1 and state = 'running'", executorId).firstResultOptional();
  }

  /** The ExecutorJob that each executor runs now, by the executor's identifier. */
  public static Map<String, String> jobsByExecutor() {
    Map<String, String> jobs = new HashMap<>();
    getEntityManager()
        .createQuery(
            "select e.executorId, e.executorJobId from execution e where e.state = 'running'",
            Object[].class)
        .getResultStream()
        .forEach(row -> jobs.put((String) row[0], (String) row[1]));
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
  public static boolean finish(
      String id,
      Progress progress,
      Outcome outcome,
      boolean mayHaveEntered,
      RandomGenerator random) {
    boolean succeeded = outcome.state().equals("succeeded");
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
   * @param states empty: all
   * @param startedAfter inclusive
   * @param startedBefore exclusive
   */
  record Filter(
      String agentId,
      String executorJobId,
      String scheduleId,
      List<String> states,
      String reason,
      Instant startedAfter,
      Instant startedBefore) {

    Conditions conditions() {
      return new Conditions()
          .and("agent_id = :agent", "agent", agentId)
          .and("executor_job_id = :job", "job", executorJobId)
          .and(
              "executor_job_id in (select j.id from executor_job j where j.schedule_id = :schedule)",
              "schedule",
              scheduleId)
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
        select id, coalesce(octet_length(return_value), 0) + coalesce(octet_length(error), 0)
        from execution where %s order by id desc limit :most"""
        .formatted(conditions.text());
  }

  static List<Object[]> idsAndBytes(Filter filter, String cursor, int limit) {
    Conditions conditions = filter.conditions().and("id < :cursor", "cursor", cursor);
    return conditions
        .bind(getEntityManager().createNativeQuery(listing(conditions), Object[].class))
        .setParameter("most", limit + 1)
        .getResultList();
  }

  /** An Execution, as the API shows it. */
  @Schema(name = "Execution")
  public record View(
      String id,
      @Schema(description = "The job that this is an attempt at") String executorJobId,
      String agentId,
      @Schema(description = "The revision of the agent that it runs") int agentRevision,
      @Schema(description = "The Build whose packages the script has") String buildId,
      @Schema(
              description =
                  "From 1; a lost attempt that had not entered main doesn't count, so its number may come again")
          int attempt,
      @Schema(
              enumeration = {"running", "succeeded", "failed", "timed_out", "cancelled", "lost"},
              description =
                  "timed_out: it ran longer than the agent's timeout; lost: its executor ended before it did")
          String state,
      @Schema(
              implementation = ExecutionReason.class,
              type = SchemaType.STRING,
              nullable = true,
              description = "Why it did not succeed; null: it did, or it still runs")
          String reason,
      @Schema(
              nullable = true,
              description = "The reason in words; null: it has succeeded, or it still runs")
          String message,
      @Schema(
              nullable = true,
              description =
                  "Where and why the script failed: an object with type (the exception's class, with its module"
                      + " unless that is builtins: KeyError, requests.exceptions.HTTPError), message (its text),"
                      + " traceback (as Python prints it, from the first frame of the script on, which is called"
                      + " agent.py; or null), line (the innermost of the script, from 1; or null) and column (in that"
                      + " line, characters from 1; or null, for exceptions also before Python 3.11). Of a message or"
                      + " traceback of more than 65536 characters, the middle is left out. null: it has not failed, or by"
                      + " no exception, for example with the reason no_main, exited or deadline_exceeded.")
          JsonText error,
      @Schema(
              ref = "JsonText",
              description =
                  "What main returned, any JSON value, with its exact text; null: it returned None, or it has not"
                      + " succeeded")
          JsonText returnValue,
      @Schema(description = "When an executor got it") Instant startedAt,
      @Schema(nullable = true, description = "null: it still runs") Instant finishedAt,
      @Schema(description = "Whether it was its executor's first, which takes longer")
          boolean coldStart,
      @Schema(description = "Where the time went") Timings timings,
      @Schema(description = "What the script's process and all that it started have used")
          Usage usage,
      @Schema(description = "How many entries its log has, so far while it runs") int logEntries,
      @Schema(
              description =
                  "Whether the log was longer than roost.limits.log-bytes, so that entries before its end are left out")
          boolean logsTruncated) {

    public static View of(Execution execution) {
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
          execution.logsTruncated);
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
                  "Seconds from the submission, or from the end of the delay before a further attempt, until an executor got"
                      + " it")
          double queued,
      @Schema(
              nullable = true,
              description =
                  "Seconds from then until main was called; null: it was not, or nobody knows")
          Double starting,
      @Schema(
              nullable = true,
              description =
                  "Seconds from then until the end; null: it has not ended, or main was not called, or nobody knows")
          Double running) {}

  /**
   * The usage of the script's process and all its descendants; null while it runs or when unknown.
   */
  public record Usage(
      @Schema(
              nullable = true,
              description = "Seconds of CPU time; null: it still runs, or nobody knows")
          Double cpuSeconds,
      @Schema(
              nullable = true,
              description =
                  "The most memory at a time, bytes; null: it still runs, or nobody knows")
          Long maxMemoryBytes) {}
}
