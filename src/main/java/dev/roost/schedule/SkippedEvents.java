package dev.roost.schedule;

import dev.roost.api.Json;
import dev.roost.event.EventLog;
import java.sql.Connection;
import java.sql.SQLException;

/** Records scheduled times without a job: one event for each run of consecutive times. */
final class SkippedEvents {
  private SkippedEvents() {}

  /** Runs in the transaction that moves the schedule on. */
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
