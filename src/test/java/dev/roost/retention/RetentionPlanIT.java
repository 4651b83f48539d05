package dev.roost.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.Plans;
import dev.roost.TestDatabase;
import dev.roost.agent.OldAgents;
import dev.roost.api.OldSessions;
import dev.roost.builds.OldBuilderJobs;
import dev.roost.builds.UnusedBuilds;
import dev.roost.bundle.OldBundles;
import dev.roost.db.Sql;
import dev.roost.event.OldEvents;
import dev.roost.execution.OldExecutorJobs;
import dev.roost.executor.OldExecutors;
import dev.roost.issue.OldIssues;
import dev.roost.log.OldLogs;
import dev.roost.notification.OldMessages;
import dev.roost.webhook.OldDeliveries;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** How PostgreSQL finds what is old in large tables: by index, whatever is asked. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class RetentionPlanIT {
  private static final String FILL =
      """
      insert into build (id, image_key, image, python_version, packages, size_bytes, duration_seconds, created_at)
      select 'build_' || lpad(i::text, 6, '0'), 'key_' || i, 'image@sha256:' || i, '3.13', '[]', 1, 1, now()
      from generate_series(1, 5000) i;
      insert into builder_job (id, agent_id, agent_revision, python_version, requirements, image_key, state, build_id,
        created_at, finished_at)
      select 'bjob_' || lpad(i::text, 6, '0'), 'agent_' || i / 10, 1, '3.13', '', 'key_' || i, 'succeeded',
        'build_' || lpad(i::text, 6, '0'), now(), now()
      from generate_series(1, 5000) i;
      insert into agent (id, name, revision, timeout_seconds, memory_mib, cpu, max_concurrency, max_attempts,
        retry_delay_seconds, keep_warm_seconds, isolation, created_at, updated_at, deleted_at)
      select 'agent_' || i, 'agent ' || i, 1, 1, 256, 1, 1, 1, 1, 1, 'process', now(), now(),
        case when i % 100 = 0 then now() end
      from generate_series(1, 5000) i;
      insert into agent_revision (agent_id, revision, script, requirements, env_vars, python_version, builder_job_id,
        created_at)
      select 'agent_' || i, 1, '', '', '', '3.13', 'bjob_' || lpad(i::text, 6, '0'), now()
      from generate_series(1, 5000) i;
      insert into file (id, name, content_type, state, link_key, kept, created_at, used_at)
      select 'file_' || i, '', '', 'stored', '', true, now(), now() from generate_series(1, 10000) i;
      insert into bundle (id, sha256, files, size_bytes, created_at)
      select 'bundle_' || i, '', 1, 1, now() - make_interval(secs => i) from generate_series(1, 5000) i;
      insert into bundle_file (bundle_id, number, file_id)
      select 'bundle_' || 1 + i / 2, i % 2, 'file_' || i from generate_series(1, 9999) i;
      update agent_revision r set bundle_id = 'bundle_' || b.i, script_path = 'main.py'
      from (select agent_id, row_number() over () as i from agent_revision) b where b.agent_id = r.agent_id and b.i < 4900;
      insert into executor (id, agent_id, agent_revision, build_id, state, lease_expires_at, created_at, ended_at)
      select 'executor_' || lpad(i::text, 6, '0'), 'agent_' || i, 1, 'build_' || lpad(i::text, 6, '0'), 'ended', now(),
        now(), now()
      from generate_series(1, 6000) i;
      insert into executor_job (id, agent_id, agent_revision, state, created_at, finished_at)
      select 'xjob_' || lpad(i::text, 6, '0'), 'agent_' || i / 10, 1, 'succeeded', now(), now()
      from generate_series(1, 10000) i;
      insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state,
        started_at, cold_start, queued_seconds)
      select 'exec_' || lpad(i::text, 6, '0'), 'xjob_' || lpad(i::text, 6, '0'), 'agent_' || i / 10, 1, 'build_',
        'executor_' || lpad(i::text, 6, '0'), 1, 'succeeded', now(), false, 0
      from generate_series(1, 10000) i;
      insert into log_entry (owner_id, seq, time, stream, message, continued)
      select 'exec_' || lpad((i / 3)::text, 6, '0'), i % 3, now(), 'stdout', 'line', false
      from generate_series(1, 20000) i;
      insert into issue (id, agent_id, fingerprint, state, title, reason, failures, first_seen_at, last_seen_at,
        first_revision, last_revision, last_execution_id)
      select 'issue_' || i, 'agent_' || i, convert_to(i::text, 'UTF8'), 'open', '', 'exception', 1, now(), now(), 1, 1, ''
      from generate_series(1, 100) i;
      insert into issue_execution (execution_id, issue_id, executor_job_id, finished_at)
      select 'exec_' || lpad(i::text, 6, '0'), 'issue_' || 1 + i % 100, 'xjob_' || lpad(i::text, 6, '0'), now()
      from generate_series(1, 10000) i;
      insert into issue_hour (issue_id, hour, failures)
      select 'issue_' || 1 + i % 100, now() + make_interval(hours => i), 1 from generate_series(1, 6000) i;
      insert into issue_replay (executor_job_id, source_id, root_id)
      select 'xjob_' || lpad(i::text, 6, '0'), '', '' from generate_series(1, 10000) i;
      update event set position = -i from (select id, row_number() over () as i from event) e where e.id = event.id;
      insert into webhook (id, url, description, event_types, secret, state, created_at, updated_at)
      select 'hook_' || i, '', '', '{*}', '', 'active', now(), now() from generate_series(1, 10) i;
      insert into webhook_delivery (id, webhook_id, position, event_type, subject, state, created_at)
      select 'dlv_' || i, 'hook_' || i % 10, i, '', '', 'succeeded', now() from generate_series(1, 6000) i
      where i % 10 > 0;
      insert into notification_channel (id, name, kind, recipients, agents, event_types, min_interval_seconds, time_zone,
        quiet_times, state, created_at, updated_at)
      values ('channel_1', '', 'email', '{}', '{}', '{}', 0, 'UTC', '[]', 'active', now(), now());
      insert into notification_message (id, channel_id, test, state, title, attempts, created_at, give_up_at, finished_at)
      select 'message_' || i, 'channel_1', false, 'succeeded', '', 1, now(), now(), now() - make_interval(secs => i)
      from generate_series(1, 6000) i;
      insert into api_key (id, name, role, secret_sha256, created_at)
      select 'key_' || i, '', 'read', '', now() from generate_series(1, 1000) i;
      insert into login_session (secret_sha256, key_id, created_at, expires_at)
      select convert_to(i::text, 'UTF8'), 'key_' || 1 + i % 1000, now(), now() + make_interval(secs => i)
      from generate_series(1, 6000) i;
      insert into login_link (secret_sha256, key_id, expires_at)
      select secret_sha256, key_id, expires_at from login_session""";

  @Inject DataSource dataSource;

  private static Map<String, Sql> statements() {
    Map<String, Sql> all = new LinkedHashMap<>();
    all.put("logs", OldLogs.DELETE);
    all.put("jobs", OldExecutorJobs.OLD);
    all.put("executions of jobs", OldExecutorJobs.EXECUTIONS);
    all.put("deletion of jobs", OldExecutorJobs.DELETE);
    all.put("failures of deleted executions", OldIssues.EXECUTIONS);
    all.put("deletion of failures", OldIssues.DELETE_EXECUTIONS);
    all.put("replays of deleted jobs", OldIssues.REPLAYS);
    all.put("deletion of replays", OldIssues.DELETE_REPLAYS);
    all.put("hours of issues", OldIssues.DELETE_HOURS);
    all.put("executors", OldExecutors.DELETE_EXECUTORS);
    all.put("the next old events", OldEvents.UPPER);
    all.put("deliveries", OldDeliveries.DELETE);
    all.put("deletion of events", OldEvents.DELETE);
    all.put("messages of channels", OldMessages.DELETE);
    all.put("sessions", OldSessions.DELETE);
    all.put("login links", OldSessions.DELETE_LINKS);
    all.put("builder jobs", OldBuilderJobs.OLD);
    all.put("lock on builder jobs", OldBuilderJobs.LOCK);
    all.put("deletion of builder jobs", OldBuilderJobs.DELETE);
    all.put("deleted agents", OldAgents.OLD);
    all.put("revisions of an agent", OldAgents.DELETE_REVISIONS);
    all.put("builder jobs of an agent", OldAgents.BUILDER_JOBS);
    all.put("deletion of an agent", OldAgents.DELETE);
    all.put("unused bundles", OldBundles.UNUSED);
    all.put("lock on bundles", OldBundles.LOCK);
    all.put("files of bundles", OldBundles.FILES);
    all.put("deletion of bundles", OldBundles.DELETE);
    all.put("files that no bundle needs", OldBundles.NEEDLESS);
    all.put("unused builds", UnusedBuilds.FIND);
    all.put("removal of a build", UnusedBuilds.REMOVE);
    all.put("another removal of a build", UnusedBuilds.BEGIN_AGAIN);
    all.put("removals", UnusedBuilds.WITH_REMOVAL);
    all.put("what remains of a build", UnusedBuilds.REMAINS);
    all.put("end of a removal", UnusedBuilds.END);
    all.put("rows of builds", UnusedBuilds.DELETE);
    all.put("leftovers", UnusedBuilds.UNKNOWN);
    return all;
  }

  /** All in one transaction that is taken back. */
  @Test
  void noStatementReadsAWholeTable() throws SQLException {
    List<String> reading = new ArrayList<>();
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        for (String insert : FILL.split(";")) {
          statement.execute(insert);
        }
        statement.execute(
            "analyze bundle, bundle_file, file, build, builder_job, agent, agent_revision, executor, executor_job, execution, log_entry, event,"
                + " webhook_delivery, notification_message, login_session, login_link");
        statement.execute("set local plan_cache_mode = force_generic_plan");
        for (Map.Entry<String, Sql> each : statements().entrySet()) {
          String plan = Plans.of(statement, each.getValue().text());
          // event_log has one row.
          if (plan.replace("Seq Scan on event_log", "").contains("Seq Scan")) {
            reading.add(each.getKey() + "\n" + plan);
          }
        }
        for (String foreignKey : foreignKeys()) {
          String plan = Plans.of(statement, foreignKey);
          if (plan.contains("Seq Scan")) {
            reading.add(foreignKey + "\n" + plan);
          }
        }
      } finally {
        connection.rollback();
        connection.setAutoCommit(true);
      }
    }
    assertEquals("", String.join("\n", reading));
  }

  /** What the deletion of a row asks by itself. */
  private static List<String> foreignKeys() {
    return List.of(
        "select 1 from execution where executor_job_id = ?",
        "select 1 from builder_job where build_id = ?",
        "select 1 from agent_revision where builder_job_id = ?",
        "select 1 from agent_revision where agent_id = ?",
        "select 1 from agent_revision where bundle_id = ?",
        "select 1 from bundle_file where bundle_id = ?",
        "select 1 from bundle_file where file_id = ?",
        "select 1 from webhook_attempt where delivery_id = ?",
        "select 1 from login_session where key_id = ?",
        "select 1 from login_link where key_id = ?");
  }
}
