package dev.roost;

import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import javax.sql.DataSource;

/**
 * A database after a month of work, for tests of how statements go about it. Nothing is left open
 * in it: of many open jobs, as other tests leave them, reading the whole table would be right.
 */
public final class ManyExecutions {
  private static final String FILL =
      """
      update executor_job set state = 'cancelled', reason = 'cancelled', finished_at = now()
      where state in ('queued', 'running', 'suspended');
      insert into builder_job (id, agent_id, agent_revision, python_version, requirements, image_key, state, created_at,
        finished_at)
      select 'bjob_' || i, 'agent_' || i, 1, '3.13', '', 'key_' || i,
        case when i % 50 = 0 then 'failed' else 'succeeded' end, now(), now()
      from generate_series(1, 2000) i;
      insert into agent (id, name, revision, timeout_seconds, memory_mib, cpu, max_concurrency, max_attempts,
        retry_delay_seconds, keep_warm_seconds, isolation, created_at, updated_at)
      select 'agent_' || i, 'one of many ' || i, 1, 1, 256, 1, 1, 1, 1, 1, 'process', now(), now()
      from generate_series(1, 2000) i;
      insert into agent_revision (agent_id, revision, script, requirements, env_vars, python_version, builder_job_id,
        created_at)
      select 'agent_' || i, 1, '', '', '', '3.13', 'bjob_' || i, now() from generate_series(1, 2000) i;
      insert into executor (id, agent_id, agent_revision, build_id, state, lease_expires_at, created_at, ended_at)
      select 'executor_' || i, 'agent_' || i, 1, '', 'ended', now(), now(), now() from generate_series(1, 2000) i;
      insert into executor_job (id, agent_id, agent_revision, state, reason, created_at, finished_at)
      select 'xjob_' || lpad(i::text, 6, '0'), 'agent_' || i % 2000, 1, case when i % 100 = 0 then 'failed'
        else 'succeeded' end, case when i % 100 = 0 then 'exception' end, now(), now()
      from generate_series(1, 10000) i;
      insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state, reason,
        started_at, finished_at, cold_start, queued_seconds)
      select 'exec_' || lpad(i::text, 6, '0'), 'xjob_' || lpad(i::text, 6, '0'), 'agent_' || i % 2000, 1, '',
        'executor_' || i % 2000, 1, case when i % 100 = 0 then 'failed' else 'succeeded' end,
        case when i % 100 = 0 then 'exception' end, now() - make_interval(mins => i), now() - make_interval(mins => i),
        false, 0
      from generate_series(1, 10000) i""";

  private ManyExecutions() {}

  /** Fills the database in the statement's transaction, which the caller takes back. */
  public static void fill(Statement statement) throws SQLException {
    for (String insert : FILL.split(";")) {
      statement.execute(insert);
    }
    statement.execute(
        "analyze builder_job, agent, agent_revision, executor, executor_job, execution");
  }

  /**
   * The plans of those statements that read all Executions, jobs or executors, by their names; all
   * in one transaction that is taken back.
   */
  public static String wholeReads(DataSource dataSource, Map<String, Sql> statements)
      throws SQLException {
    StringBuilder reading = new StringBuilder();
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        fill(statement);
        statement.execute("set local plan_cache_mode = force_generic_plan");
        for (Map.Entry<String, Sql> each : statements.entrySet()) {
          String plan = Plans.of(statement, each.getValue().text());
          if (plan.contains("Seq Scan on e") || plan.contains("Seq Scan on builder_job")) {
            reading.append(each.getKey()).append('\n').append(plan);
          }
        }
      } finally {
        connection.rollback();
        connection.setAutoCommit(true);
      }
    }
    return reading.toString();
  }
}
