package dev.roost.schedule;

import dev.roost.api.Json;
import dev.roost.event.EventLog;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Tells of scheduled times of which no job was made: one event for those that follow each other.
 */
final class SkippedEvents {
  private SkippedEvents() {}

  /** In the transaction in which the schedule moves on. */
  static void note(Connection connection, String scheduleId, String agentId, Due.Skipped run)
      throws SQLException {
    // Identifiers and times need no escapes.
    String data =
        """
        {"id": "%s", "agent_id": "%s", "reason": "%s", "scheduled_time": "%s", "last_scheduled_time": "%s", "count": %s}"""
            .formatted(
                scheduleId,
                agentId,
                run.reason().code(),
                Json.time(run.first()),
                Json.time(run.last()),
                run.count());
    EventLog.note(connection, "schedule.skipped", scheduleId, agentId, data);
  }
}
