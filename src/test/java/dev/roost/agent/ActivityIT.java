package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.HistoryRows;
import dev.roost.ManyExecutions;
import dev.roost.api.Json;
import dev.roost.api.Role;
import dev.roost.db.Database;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What goes on with agents. Nothing runs here. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class ActivityIT {
  @Inject Database database;
  @Inject DataSource dataSource;

  private HistoryRows rows;
  private Api api;
  private String agent;
  private Instant now;

  @BeforeEach
  void makeAgent() {
    rows = new HistoryRows(database);
    api = Api.as(Role.WRITE);
    agent = api.post("/v1/agents", "{\"script\": \"\"}").get("id");
    now = Instant.now().truncatedTo(ChronoUnit.MICROS);
  }

  private Answer activity() {
    return api.get("/v1/agents/" + agent + "?include=activity");
  }

  @Test
  void aNewAgentHasItsBuildAlone() {
    Answer answer = activity();
    Map<String, Object> job = new HashMap<>();
    job.put("id", answer.get("latest_builder_job_id"));
    job.put("state", "queued");
    job.put("reason", null);
    assertEquals(job, answer.get("activity.builder_job"));
    Map<String, Object> rest = new HashMap<>(answer.get("activity"));
    rest.remove("builder_job");
    Map<String, Object> expected = new HashMap<>();
    expected.put("last_execution", null);
    expected.put("next_run_at", null);
    expected.put("running", 0);
    expected.put("queued", 0);
    expected.put("executions_7d", Map.of("succeeded", 0, "failed", 0));
    assertEquals(expected, rest);
  }

  @Test
  void itIsReportedOnlyWhenRequested() {
    assertFalse(api.get("/v1/agents/" + agent).text().contains("activity"));
    assertFalse(api.get("/v1/agents?limit=1").text().contains("activity"));
    assertEquals(422, api.get("/v1/agents/" + agent + "?include=all").status());
    assertEquals(422, api.get("/v1/agents?include=all").status());
    assertEquals(activity().header("ETag"), api.get("/v1/agents/" + agent).header("ETag"));
  }

  @Test
  void pastAndFutureRunsAreReported() {
    rows.execution(agent, "succeeded", null, now.minusSeconds(60));
    rows.execution(agent, "succeeded", null, now.minus(Duration.ofDays(8)));
    rows.execution(agent, "failed", "exception", now.minus(Duration.ofDays(6)));
    rows.execution(agent, "timed_out", "deadline_exceeded", now.minusSeconds(50));
    rows.execution(agent, "cancelled", "cancelled", now.minusSeconds(50));
    String last = rows.execution(agent, "lost", "executor_lost", now.minusSeconds(40));
    api.post("/v1/agents/" + agent + "/execute", "{}");
    // Neither is due while this test runs, as what it starts would be queued, too.
    for (String cron : List.of("0 0 1 1 *", "0 0 1 7 *")) {
      String body = "{\"agent_id\": \"%s\", \"cron\": \"%s\", \"name\": \"%2$s\"}";
      assertEquals(201, api.post("/v1/schedules", body.formatted(agent, cron)).status());
    }

    Answer answer = activity();
    assertEquals(
        Map.of(
            "id",
            last,
            "state",
            "lost",
            "reason",
            "executor_lost",
            "started_at",
            Json.time(now.minusSeconds(40)),
            "finished_at",
            Json.time(now.minusSeconds(40))),
        answer.get("activity.last_execution"));
    assertEquals(Map.of("succeeded", 1, "failed", 3), answer.get("activity.executions_7d"));
    assertEquals(1, (int) answer.get("activity.queued"));
    List<String> next = api.get("/v1/schedules?agent_id=" + agent).get("data.next_run_at");
    assertEquals(Collections.min(next), answer.get("activity.next_run_at"));

    String running = rows.execution(agent, "running", null, now);
    rows.run("update execution set finished_at = null where id = '%s'", running);
    Answer then = activity();
    assertEquals(1, (int) then.get("activity.running"));
    assertEquals("running", then.get("activity.last_execution.state"));
    assertNull(then.get("activity.last_execution.finished_at"));
    rows.run("delete from execution where id = '%s'", running);

    api.post("/v1/agents", "{\"script\": \"\"}");
    Answer page = api.get("/v1/agents?limit=2&include=activity");
    assertEquals(List.of(0, 1), page.get("data.activity.queued"));
    assertEquals((Object) activity().get("activity"), page.get("data[1].activity"));
  }

  @Test
  void noAgentsActivityReadsAllExecutions() throws SQLException {
    assertEquals("", ManyExecutions.wholeReads(dataSource, Map.of("activity", AgentActivity.READ)));
  }
}
