package dev.roost.builds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.TestDatabase;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;

/** What an upgrade makes of the rows that are there. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class UpgradeIT {
  /** Agents with so many revisions, and the states of their builds. */
  private static final String ROWS =
      """
      insert into build (id, image_key, python_version, packages, size_bytes, duration_seconds, created_at)
      values ('b', 'b', '3.13', '[]', 0, 0, now());
      insert into builder_job (id, agent_id, agent_revision, python_version, requirements, image_key, state, build_id,
        created_at)
      select 'job_' || s, 'agent', 1, '3.13', '', 'b', s, case s when 'succeeded' then 'b' end, now()
      from unnest(array['queued', 'running', 'succeeded', 'failed', 'cancelled']) s;
      insert into agent (id, name, revision, timeout_seconds, memory_mib, cpu, max_concurrency, max_attempts,
        retry_delay_seconds, keep_warm_seconds, isolation, created_at, updated_at)
      select id, id, revisions, 1, 64, 1, 1, 1, 1, 1, 'process', now(), now()
      from (values ('built', 2), ('failed', 3), ('building', 2), ('never', 1)) a (id, revisions);
      insert into agent_revision (agent_id, revision, script, requirements, env_vars, python_version, builder_job_id,
        created_at)
      select agent, revision, '', '', '', '3.13', 'job_' || state, now()
      from (values
        ('built', 1, 'succeeded'), ('built', 2, 'succeeded'),
        ('failed', 1, 'succeeded'), ('failed', 2, 'cancelled'), ('failed', 3, 'failed'),
        ('building', 1, 'succeeded'), ('building', 2, 'running'),
        ('never', 1, 'queued')) r (agent, revision, state);""";

  @Inject DataSource dataSource;

  @Test
  void whatWasBuiltLastRuns() throws SQLException {
    migrate("8");
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("begin; set local search_path to upgrade; " + ROWS + " commit");
      migrate("9");
      Map<String, Integer> running = new LinkedHashMap<>();
      try (ResultSet rows =
          statement.executeQuery("select id, running_revision from upgrade.agent")) {
        while (rows.next()) {
          running.put(rows.getString(1), (Integer) rows.getObject(2));
        }
      }
      Map<String, Integer> expected = new LinkedHashMap<>();
      expected.put("built", 2);
      expected.put("failed", 1);
      expected.put("building", 1);
      expected.put("never", null);
      assertEquals(expected, running);
    } finally {
      flyway("9").clean();
    }
  }

  @Test
  void whatWasCreatedBeforeIsPreloaded() throws SQLException {
    migrate("8");
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("begin; set local search_path to upgrade; " + ROWS + " commit");
      migrate("20");
      try (ResultSet rows =
          statement.executeQuery(
              "select preload, count(*) from upgrade.agent_revision group by preload")) {
        assertTrue(rows.next());
        assertEquals("auto", rows.getString(1));
        assertEquals(8, rows.getInt(2));
        assertFalse(rows.next());
      }
    } finally {
      flyway("20").clean();
    }
  }

  private void migrate(String version) {
    flyway(version).migrate();
  }

  private Flyway flyway(String target) {
    return Flyway.configure()
        .dataSource(dataSource)
        .schemas("upgrade")
        .locations("db/migration")
        .target(target)
        .cleanDisabled(false)
        .load();
  }
}
