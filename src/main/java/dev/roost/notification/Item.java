package dev.roost.notification;

import dev.roost.db.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/**
 * What one notification is about, as it is now: an open issue, or an agent whose newest build has
 * failed.
 *
 * @param subject the issue or the agent
 * @param types what has happened
 * @param where file, line and function; null: unknown
 * @param count of failures; 0 for a build
 */
record Item(
    String subject,
    List<String> types,
    String agentId,
    String agentName,
    String title,
    String where,
    Instant since,
    Instant latest,
    long count,
    int firstRevision,
    int lastRevision) {

  static Item read(ResultSet row) throws SQLException {
    String function = row.getString("function");
    Integer line = row.getObject("line", Integer.class);
    String where =
        line == null ? null : "agent.py:" + line + (function == null ? "" : " in " + function);
    List<String> types = List.of((String[]) row.getArray("types").getArray());
    return new Item(
        row.getString("subject"),
        NotificationTypes.ALL.stream().filter(types::contains).toList(),
        row.getString("agent_id"),
        row.getString("agent_name"),
        row.getString("title"),
        where,
        Sql.instant(row, "first_seen_at"),
        Sql.instant(row, "last_seen_at"),
        row.getLong("failures"),
        row.getInt("first_revision"),
        row.getInt("last_revision"));
  }

  boolean isBuild() {
    return types.contains(NotificationTypes.BUILD_FAILED);
  }

  /** The page of the dashboard. */
  String path() {
    return (isBuild() ? "/agents/" : "/issues/") + subject;
  }
}
