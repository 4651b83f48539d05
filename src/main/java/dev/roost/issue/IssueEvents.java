package dev.roost.issue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.api.Json;
import dev.roost.event.EventLog;
import java.sql.Connection;
import java.sql.SQLException;

/** Records changes of issues in the log of events, in the transaction of the change. */
final class IssueEvents {
  static final String OPENED = "issue.opened";
  static final String REGRESSED = "issue.regressed";
  static final String GROWING = "issue.growing";

  private IssueEvents() {}

  /** A person's change. */
  static void changed(Connection connection, Issue issue) throws SQLException {
    String change =
        switch (issue.state()) {
          case OPEN -> "issue.reopened";
          case RESOLVED -> "issue.resolved";
          case MUTED -> "issue.muted";
        };
    note(connection, change, issue);
  }

  static void note(Connection connection, String type, Issue issue) throws SQLException {
    ObjectNode data =
        JsonNodeFactory.instance
            .objectNode()
            .put("id", issue.id())
            .put("agent_id", issue.agentId())
            .put("state", issue.state().code())
            .put("title", issue.title())
            .put("reason", issue.reason())
            .put("exception_type", issue.exceptionType())
            .put("count", issue.count())
            .put("revision", issue.lastRevision())
            .put("execution_id", issue.lastExecutionId())
            .put("first_seen_at", Json.time(issue.firstSeenAt()))
            .put("last_seen_at", Json.time(issue.lastSeenAt()));
    EventLog.note(connection, type, issue.id(), issue.agentId(), data.toString());
  }
}
