package dev.roost.issue;

import dev.roost.db.Code;
import dev.roost.db.Sql;
import dev.roost.execution.ExecutionReason;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** Failures of one cause, as the API shows them. */
@Schema(name = "Issue")
record Issue(
    String id,
    String agentId,
    @Schema(
            description =
                "open: it needs a fix. resolved: a later failure, of the revision that ran then or of a "
                    + "later one, opens it again. muted: it counts failures and raises no events")
        IssueState state,
    @Schema(description = "Whether it is open again after it was resolved") boolean regressed,
    @Schema(
            examples = "KeyError: 'price'",
            description = "The exception, or why it failed, of the latest failure; one line")
        String title,
    @Schema(
            implementation = ExecutionReason.class,
            type = SchemaType.STRING,
            description = "Why its executions failed")
        String reason,
    @Schema(
            nullable = true,
            description = "The exception's class; null for failures without an exception")
        String exceptionType,
    @Schema(
            nullable = true,
            description =
                "Where the script failed, at the latest failure; null if it failed outside of the script")
        Culprit culprit,
    @Schema(description = "The number of failed Executions, including deleted ones") long count,
    @Schema(description = "When the first failure ended") Instant firstSeenAt,
    @Schema(description = "When the latest failure ended") Instant lastSeenAt,
    @Schema(description = "The agent's revision that introduced it: the first that failed so")
        int firstRevision,
    @Schema(description = "The latest revision that failed so") int lastRevision,
    @Schema(description = "The latest failed Execution") String lastExecutionId,
    @Schema(nullable = true, description = "When it was resolved; null while it is not resolved")
        Instant resolvedAt,
    @Schema(
            nullable = true,
            description =
                "The failures per hour of the last 14 days, oldest first, without hours that had none; "
                    + "null in lists")
        List<Hour> hours,
    @Schema(
            nullable = true,
            description = "The affected revisions of the agent, newest first; null in lists")
        List<Revision> revisions) {

  /** The innermost frame of the script. */
  @Schema(name = "IssueCulprit")
  record Culprit(
      @Schema(description = "The script is agent.py") String file,
      @Schema(nullable = true, description = "The function; null if it is unknown") String function,
      @Schema(description = "The line, from 1") int line) {
    /** The name of the script in tracebacks. */
    private static final String FILE = "agent.py";

    private static Culprit read(ResultSet row) throws SQLException {
      Integer line = row.getObject("line", Integer.class);
      return line == null ? null : new Culprit(FILE, row.getString("function"), line);
    }
  }

  /** The failures of an hour. */
  @Schema(name = "IssueHour")
  record Hour(
      @Schema(description = "The start of the hour") Instant hour,
      @Schema(description = "The number of failures") long count) {
    static Hour read(ResultSet row) throws SQLException {
      return new Hour(Sql.instant(row, "hour"), row.getLong("failures"));
    }
  }

  /** The failures of a revision. */
  @Schema(name = "IssueRevision")
  record Revision(
      @Schema(description = "The revision of the agent") int revision,
      @Schema(description = "The number of failures") long count,
      @Schema(description = "When the first one ended") Instant firstSeenAt,
      @Schema(description = "When the latest one ended") Instant lastSeenAt) {
    static Revision read(ResultSet row) throws SQLException {
      return new Revision(
          row.getInt("revision"),
          row.getLong("failures"),
          Sql.instant(row, "first_seen_at"),
          Sql.instant(row, "last_seen_at"));
    }
  }

  static Issue read(ResultSet row) throws SQLException {
    return new Issue(
        row.getString("id"),
        row.getString("agent_id"),
        Code.parse(IssueState.class, row.getString("state")),
        row.getBoolean("regressed"),
        row.getString("title"),
        row.getString("reason"),
        row.getString("exception_type"),
        Culprit.read(row),
        row.getLong("failures"),
        Sql.instant(row, "first_seen_at"),
        Sql.instant(row, "last_seen_at"),
        row.getInt("first_revision"),
        row.getInt("last_revision"),
        row.getString("last_execution_id"),
        Sql.instant(row, "resolved_at"),
        null,
        null);
  }

  Issue with(List<Hour> hours, List<Revision> revisions) {
    return new Issue(
        id,
        agentId,
        state,
        regressed,
        title,
        reason,
        exceptionType,
        culprit,
        count,
        firstSeenAt,
        lastSeenAt,
        firstRevision,
        lastRevision,
        lastExecutionId,
        resolvedAt,
        hours,
        revisions);
  }
}
