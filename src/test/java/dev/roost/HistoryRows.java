package dev.roost;

import dev.roost.api.Ids;
import dev.roost.db.Database;
import java.sql.Statement;
import java.time.Instant;

/** Rows as executions leave them, for tests of what is told about the past. */
public final class HistoryRows {
  private final Database database;

  public HistoryRows(Database database) {
    this.database = database;
  }

  /**
   * @param values for the statement's format
   */
  public void run(String sql, Object... values) {
    database.once(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            return statement.execute(sql.formatted(values));
          }
        });
  }

  /**
   * An Execution that ended then, and its job; answers its identifier.
   *
   * @param reason or null
   */
  public String execution(String agent, String state, String reason, Instant finishedAt) {
    String job = Ids.next("xjob");
    String id = Ids.next("exec");
    String quoted = reason == null ? "null" : "'" + reason + "'";
    run(
        """
        insert into executor_job (id, agent_id, agent_revision, state, reason, created_at)
        values ('%s', '%s', 1, '%s', %s, now())""",
        job, agent, state.equals("succeeded") ? state : "failed", quoted);
    run(
        """
        insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state,
          reason, message, started_at, finished_at, cold_start, queued_seconds)
        values ('%1$s', '%2$s', '%3$s', 1, '', '%1$s', 1, '%4$s', %5$s, 'message of %1$s', '%6$s', '%6$s', false, 0)""",
        id, job, agent, state, quoted, finishedAt);
    return id;
  }
}
