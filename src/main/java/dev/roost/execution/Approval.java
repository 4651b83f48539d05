package dev.roost.execution;

import dev.roost.api.JsonText;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A question that a script asks people, as the API shows it. */
@Schema(name = "Approval")
public record Approval(
    String id,
    @Schema(description = "The ExecutorJob whose script waits for it") String executorJobId,
    String agentId,
    @Schema(description = "What is to be decided, on one line") String title,
    @Schema(
            ref = "JsonText",
            description = "What one needs to know for it: any JSON value, or null")
        JsonText details,
    @Schema(
            ref = "JsonText",
            description =
                "The JSON Schema of what is to be filled in with an approval; null if nothing is")
        JsonText form,
    @Schema(description = "Whom the script asks; anybody with a key that may execute can decide")
        List<String> assignees,
    @Schema(description = "`cancelled`: the job has ended before anybody has decided")
        ApprovalState state,
    Instant createdAt,
    @Schema(nullable = true, description = "Until when it can be decided; null: without end")
        Instant expiresAt,
    @Schema(nullable = true, description = "When it was decided; null while it is pending")
        Instant decidedAt,
    @Schema(
            nullable = true,
            description =
                "The name of the key or the assignee of the link that has decided; null if nobody has")
        String decidedBy,
    @Schema(nullable = true, description = "What was said with the decision") String comment,
    @Schema(ref = "JsonText", description = "What was filled in; null if nothing was")
        JsonText value) {
  /** Of a row of the table. */
  static Approval read(ResultSet row) throws SQLException {
    return new Approval(
        row.getString("id"),
        row.getString("executor_job_id"),
        row.getString("agent_id"),
        row.getString("title"),
        JsonText.ofNullable(row.getString("details")),
        JsonText.ofNullable(row.getString("form")),
        List.of((String[]) row.getArray("assignees").getArray()),
        Code.parse(ApprovalState.class, row.getString("state")),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "expires_at"),
        Sql.instant(row, "decided_at"),
        row.getString("decided_by"),
        row.getString("comment"),
        JsonText.ofNullable(row.getString("value")));
  }
}
