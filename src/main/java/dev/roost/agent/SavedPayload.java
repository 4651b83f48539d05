package dev.roost.agent;

import dev.roost.api.JsonText;
import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A payload that is kept under a name, to execute an agent with it again. */
@Schema(name = "SavedPayload")
record SavedPayload(
    @Schema(description = "Unique among the agent's saved payloads", examples = "empty order")
        String name,
    @Schema(description = "The size of its JSON text in bytes") int sizeBytes,
    @Schema(ref = "JsonText", description = "Any JSON value; null in lists") JsonText payload,
    Instant createdAt,
    Instant updatedAt) {
  static SavedPayload read(ResultSet row) throws SQLException {
    return new SavedPayload(
        row.getString("name"),
        row.getInt("size_bytes"),
        JsonText.ofNullable(row.getString("payload")),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "updated_at"));
  }
}
