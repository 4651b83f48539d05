package dev.roost.issue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Text;
import dev.roost.db.Sql;
import dev.roost.execution.ExecutionReason;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/**
 * A failed execution, and its cause.
 *
 * @param exceptionType null when it failed without an exception
 * @param function the innermost frame of the script; null when unknown
 * @param line of that frame; null when unknown
 */
record Failure(
    String executionId,
    String executorJobId,
    String agentId,
    int revision,
    String reason,
    String exceptionType,
    String message,
    String function,
    Integer line,
    Instant startedAt,
    Instant finishedAt) {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int LONGEST_TITLE = 200;
  private static final int LONGEST_NAME = 200;

  /** Another version gives the same failures other fingerprints, and so opens new issues. */
  private static final String VERSION = "1";

  /** A row of {@code execution}. */
  static Failure read(ResultSet row) throws SQLException {
    return of(
        row.getString("id"),
        row.getString("executor_job_id"),
        row.getString("agent_id"),
        row.getInt("agent_revision"),
        row.getString("reason"),
        row.getString("message"),
        row.getString("error"),
        Sql.instant(row, "started_at"),
        Sql.instant(row, "finished_at"));
  }

  /**
   * @param error a JSON object with type, message, traceback and line; or null
   */
  static Failure of(
      String executionId,
      String executorJobId,
      String agentId,
      int revision,
      String reason,
      String message,
      String error,
      Instant startedAt,
      Instant finishedAt) {
    JsonNode cause = parse(error);
    JsonNode line = cause.path("line");
    Integer number = line.canConvertToInt() ? Integer.valueOf(line.intValue()) : null;
    String type = cause.path("type").textValue();
    boolean raised = type != null && !type.equals(reason);
    return new Failure(
        executionId,
        executorJobId,
        agentId,
        revision,
        reason,
        raised ? name(type) : null,
        raised ? cause.path("message").asText() : message,
        number == null ? null : function(cause.path("traceback").asText(), number),
        number,
        startedAt,
        finishedAt);
  }

  private static JsonNode parse(String error) {
    try {
      return error == null ? MAPPER.missingNode() : MAPPER.readTree(error);
    } catch (JsonProcessingException e) {
      return MAPPER.missingNode(); // Of a version that stored something else.
    }
  }

  /** The function of the last frame of the script with that line. */
  private static String function(String traceback, int line) {
    String frame = "File \"agent.py\", line " + line + ", in ";
    int start = traceback.lastIndexOf(frame);
    if (start < 0) {
      return null;
    }
    String rest = traceback.substring(start + frame.length());
    return name(rest.lines().findFirst().orElse(""));
  }

  private static String name(String text) {
    return Text.storable(Text.beginning(text, LONGEST_NAME));
  }

  /** What is the same for all failures of an issue; the line isn't, since edits move it. */
  byte[] fingerprint() {
    boolean keepQuoted = ExecutionReason.IMPORT_ERROR.code().equals(reason);
    return Text.sha256(
        String.join(
            "\0",
            List.of(
                VERSION,
                agentId,
                text(reason),
                text(exceptionType),
                text(function),
                MessagePattern.of(message, keepQuoted))));
  }

  /** Null as an empty text. */
  private static String text(String value) {
    return value == null ? "" : value;
  }

  /** One line: the exception and its message, or what Roost says about the failure. */
  String title() {
    String first = text(message).strip().lines().findFirst().orElse("");
    String title =
        exceptionType == null || first.isEmpty()
            ? text(exceptionType) + first
            : exceptionType + ": " + first;
    return Text.storable(Text.beginning(title.isEmpty() ? reason : title, LONGEST_TITLE));
  }
}
