package dev.roost.execution;

import dev.roost.api.JsonText;
import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A step of an ExecutorJob, or a wait, as the API shows it. */
@Schema(name = "Step")
public record JobStep(
    @Schema(description = "The number of the step in the job's history, from 1") int number,
    @Schema(
            description =
                "Identifies the step in the script: its position, after that of the step that it is "
                    + "part of, as in 2/1; for a step of a thread or task ~ and its name. A step that was run "
                    + "again has several entries, of which the last one counts")
        String path,
    @Schema(description = "The name that the script gives it") String name,
    @Schema(description = "The Execution that ran it") String executionId,
    @Schema(
            description =
                "A step, a sleep, a call of another agent, or a wait for an event or an approval",
            enumeration = {"step", "sleep", "call", "event", "approval"})
        String kind,
    @Schema(
            nullable = true,
            description = "Of a call: the ExecutorJob that was submitted; null of others")
        String calledJobId,
    @Schema(nullable = true, description = "Of a wait for an event: its name; null of others")
        String eventName,
    @Schema(
            nullable = true,
            description = "Of a wait for an event with a key: that key; null of others")
        String eventKey,
    @Schema(nullable = true, description = "Of a wait for an approval: its id; null of others")
        String approvalId,
    @Schema(description = "Whether it has returned a result or raised an exception, or waits")
        StepState state,
    @Schema(ref = "JsonText", description = "The JSON value that it returned; null if it failed")
        JsonText result,
    @Schema(nullable = true, description = "The exception; null if it succeeded") Error error,
    @Schema(description = "How often the function was called") int attempts,
    @Schema(
            nullable = true,
            description =
                "Of a sleep: when it ends; of a wait for an event or an approval: when it times out; null of others")
        Instant until,
    @Schema(description = "From the first call to the end, in seconds") double durationSeconds,
    @Schema(description = "When it ended") Instant finishedAt) {

  static final String COLUMNS =
      """
      s.seq, s.path, s.name, s.execution_id, s.result, s.error_type, s.error_message, s.error_traceback, s.attempts,
      s.seconds, s.finished_at, s.until, s.called_job_id, s.event_name, s.event_key, s.approval_id,
      coalesce(s.kind, case when s.until is null then 'step' else 'sleep' end) as kind,
      case when s.kind is null then s.until > now() else s.result is null and s.error_type is null end as waits
      """;

  /** The exception of a step. */
  @Schema(name = "StepError")
  public record Error(
      @Schema(description = "The exception's class, such as requests.exceptions.Timeout")
          String type,
      @Schema(description = "The exception as a string") String message,
      @Schema(nullable = true, description = "The frames of the script") String traceback) {}

  /** Of a row with {@link #COLUMNS}. */
  static JobStep read(ResultSet row) throws SQLException {
    String type = row.getString("error_type");
    return new JobStep(
        row.getInt("seq"),
        row.getString("path"),
        row.getString("name"),
        row.getString("execution_id"),
        row.getString("kind"),
        row.getString("called_job_id"),
        row.getString("event_name"),
        row.getString("event_key"),
        row.getString("approval_id"),
        row.getBoolean("waits")
            ? StepState.WAITING
            : type == null ? StepState.SUCCEEDED : StepState.FAILED,
        JsonText.ofNullable(row.getString("result")),
        type == null
            ? null
            : new Error(type, row.getString("error_message"), row.getString("error_traceback")),
        row.getInt("attempts"),
        Sql.instant(row, "until"),
        row.getDouble("seconds"),
        Sql.instant(row, "finished_at"));
  }
}
