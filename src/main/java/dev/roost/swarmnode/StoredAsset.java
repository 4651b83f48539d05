package dev.roost.swarmnode;

import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

/**
 * An asset's row.
 *
 * @param agentId null: of no agent
 */
record StoredAsset(String id, String name, String agentId, String fileId, Instant createdAt) {
  static final String COLUMNS = "a.id, a.name, a.agent_id, a.file_id, a.created_at";

  static StoredAsset read(ResultSet row) throws SQLException {
    return new StoredAsset(
        row.getString("id"),
        row.getString("name"),
        row.getString("agent_id"),
        row.getString("file_id"),
        Sql.instant(row, "created_at"));
  }
}
