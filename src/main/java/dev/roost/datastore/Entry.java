package dev.roost.datastore;

import dev.roost.api.JsonText;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * One entry of a DataStore.
 *
 * @param value the exact JSON text; null in a scan of keys only
 * @param version unique across all entries, and never reused
 * @param expiresAt the time from which the entry counts as absent; null: never
 */
public record Entry(
    @Schema(description = "1 to 512 bytes of UTF-8", examples = "user/42") String key,
    @Schema(ref = "JsonText", description = "Any JSON value, with the exact text that was stored")
        JsonText value,
    @Schema(
            description = "The version, which grows with each change; also the ETag",
            examples = "42")
        long version,
    @Schema(nullable = true, description = "When the entry expires; null if it does not expire")
        Instant expiresAt,
    Instant updatedAt) {
  /** From a row whose columns have the names of the table's. */
  static Entry of(ResultSet row, boolean withValue) throws SQLException {
    return new Entry(
        EntryKey.text(row.getBytes("key")),
        withValue ? new JsonText(row.getString("value")) : null,
        row.getLong("version"),
        instant(row, "expires_at"),
        instant(row, "updated_at"));
  }

  static Instant instant(ResultSet row, String column) throws SQLException {
    OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
