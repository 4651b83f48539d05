package dev.roost.overview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.HistoryRows;
import dev.roost.ManyExecutions;
import dev.roost.api.Ids;
import dev.roost.api.Json;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is counted, of rows as executions leave them. Nothing runs here. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class StatisticsIT {
  private static final Duration HOUR = Duration.ofHours(1);

  @Inject Database database;
  @Inject DataSource dataSource;

  private HistoryRows rows;
  private Api api;
  private String agent;
  private Instant thisHour;

  @BeforeEach
  void makeAgent() {
    rows = new HistoryRows(database);
    api = Api.as(Role.WRITE);
    agent = agent("name" + Ids.next("x"));
    thisHour = Instant.now().truncatedTo(ChronoUnit.HOURS);
  }

  private String agent(String name) {
    return api.post(
            "/v1/agents", "{\"script\": \"\", \"max_concurrency\": 7, \"name\": \"" + name + "\"}")
        .get("id");
  }

  private Answer statistics(String parameters) {
    Answer answer = api.get("/v1/statistics?" + parameters);
    assertEquals(200, answer.status(), answer.text());
    return answer;
  }

  @Test
  void everyHourIsCounted() {
    Instant within = thisHour.minus(HOUR).plusSeconds(1);
    rows.execution(agent, "succeeded", null, within);
    rows.execution(agent, "succeeded", null, thisHour.minusNanos(1_000));
    rows.execution(agent, "failed", "exception", within);
    rows.execution(agent, "timed_out", "deadline_exceeded", thisHour.minus(HOUR));
    rows.execution(agent, "cancelled", "cancelled", within);
    rows.execution(agent, "lost", "executor_lost", thisHour);
    rows.execution(agent, "succeeded", null, thisHour.minus(HOUR).minusNanos(1_000));

    Answer answer = statistics("hours=3&agent_id=" + agent);
    assertEquals(
        List.of(
            Map.of(
                "hour", Json.time(thisHour.minus(HOUR)),
                "succeeded", 2,
                "failed", 1,
                "timed_out", 1,
                "cancelled", 1,
                "lost", 0),
            Map.of(
                "hour", Json.time(thisHour),
                "succeeded", 0,
                "failed", 0,
                "timed_out", 0,
                "cancelled", 0,
                "lost", 1)),
        List.of(hour(answer, thisHour.minus(HOUR)), hour(answer, thisHour)));
    List<String> hours = answer.get("hours.hour");
    assertEquals(3, hours.size());
    assertEquals(hours.get(0), answer.get("from"));
    assertTrue(answer.<String>get("to").compareTo(hours.get(2)) >= 0);
    Answer day = statistics("agent_id=" + agent);
    assertEquals(24, day.<List<Object>>get("hours").size());
    assertEquals(1, hour(day, thisHour.minus(HOUR.multipliedBy(2))).get("succeeded"));
    assertEquals(2, hour(day, thisHour.minus(HOUR)).get("succeeded"));
    assertEquals(0, hour(day, thisHour).get("succeeded"));
    assertEquals(168, statistics("hours=168").<List<Object>>get("hours").size());
  }

  @Test
  void allAgentsAreCountedTogether() {
    int before = cancelled();
    rows.execution(agent, "cancelled", "cancelled", thisHour);
    rows.execution(agent("other" + Ids.next("x")), "cancelled", "cancelled", thisHour);
    assertEquals(before + 2, cancelled());
  }

  private int cancelled() {
    return (int) hour(statistics("hours=2"), thisHour).get("cancelled");
  }

  /** What was counted of an hour: this one may be the one before when the answer comes. */
  private static Map<String, Object> hour(Answer answer, Instant hour) {
    return answer.<List<Map<String, Object>>>get("hours").stream()
        .filter(one -> one.get("hour").equals(Json.time(hour)))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void failuresAreReportedByReasonMostFrequentFirst() {
    rows.execution(agent, "failed", "exception", thisHour);
    String latest = rows.execution(agent, "failed", "exception", thisHour.plusMillis(1));
    rows.execution(agent, "failed", "exception", thisHour.minus(HOUR));
    String lost = rows.execution(agent, "lost", "executor_lost", thisHour);
    rows.execution(agent, "cancelled", "cancelled", thisHour);
    rows.execution(agent, "failed", "no_main", thisHour.minus(Duration.ofHours(30)));
    Answer answer = statistics("agent_id=" + agent);
    assertEquals(List.of("exception", "executor_lost"), answer.get("failures.reason"));
    assertEquals(List.of(3, 1), answer.get("failures.count"));
    assertEquals(List.of(1, 1), answer.get("failures.agents"));
    assertEquals(List.of(latest, lost), answer.get("failures.latest.execution_id"));
    String name = api.get("/v1/agents/" + agent).get("name");
    assertEquals(
        Map.of(
            "execution_id", latest,
            "agent_id", agent,
            "agent_name", name,
            "message", "message of " + latest,
            "finished_at", Json.time(thisHour.plusMillis(1))),
        answer.get("failures[0].latest"));

    String reason = "out_of_disk";
    rows.execution(agent, "failed", reason, thisHour);
    rows.execution(agent("third" + Ids.next("x")), "failed", reason, thisHour);
    Answer all = statistics("hours=2");
    int at = all.<List<String>>get("failures.reason").indexOf(reason);
    assertEquals(2, all.<List<Integer>>get("failures.agents").get(at));
  }

  @Test
  void whatRunsAndWaitsIsCounted() {
    for (int i = 1; i <= 5; i++) {
      rows.run(
          """
          insert into executor (id, agent_id, agent_revision, build_id, state, slot, lease_expires_at, created_at)
          values ('x%d %s', '%2$s', 1, '', '%s', %1$d, now() + interval '1 day', now())""",
          i, agent, List.of("", "starting", "ready", "ready", "ready", "ended").get(i));
    }
    String id = rows.execution(agent, "running", null, thisHour);
    rows.run(
        "update execution set finished_at = null, executor_id = 'x4 %s', slot = 4 where id = '%s'",
        agent, id);
    api.post("/v1/agents/" + agent + "/execute", "{}");
    api.post("/v1/agents/" + agent + "/execute", "{}");
    Answer answer = statistics("agent_id=" + agent);
    assertEquals(1, (int) answer.get("running"));
    assertEquals(2, (int) answer.get("queued"));
    assertEquals(
        Map.of("starting", 1, "idle", 2, "working", 1, "pooled", 0, "limit", 7),
        answer.get("executors"));
    assertEquals(4, (int) statistics("").get("executors.limit"), "the runtime's");
    rows.run("delete from execution where id = '%s'", id);
    rows.run("delete from executor where agent_id = '%s'", agent);
  }

  @Test
  void agentsWhoseNewestBuildFailedAreReported() {
    String job = api.get("/v1/agents/" + agent).get("latest_builder_job_id");
    assertEquals(List.of(), statistics("agent_id=" + agent).get("failed_builds"));
    rows.run(
        """
        update builder_job set state = 'failed', reason = 'index_unreachable', message = 'no way', finished_at = now()
        where id = '%s'""",
        job);
    Answer answer = statistics("agent_id=" + agent);
    assertEquals(List.of(job), answer.get("failed_builds.builder_job_id"));
    assertEquals("index_unreachable", answer.get("failed_builds[0].reason"));
    assertEquals("no way", answer.get("failed_builds[0].message"));
    assertEquals(agent, answer.get("failed_builds[0].agent_id"));
    assertEquals(job, statistics("").get("failed_builds[0].builder_job_id"));

    api.patch("/v1/agents/" + agent, "{\"requirements\": \"humanize==4.13.0\"}");
    assertEquals(
        List.of(), statistics("agent_id=" + agent).get("failed_builds"), "a newer one waits");
  }

  @Test
  void mistakesAreReported() {
    for (String hours : List.of("0", "169", "-1", "x")) {
      assertEquals(422, api.get("/v1/statistics?hours=" + hours).status(), hours);
    }
    assertEquals(404, api.get("/v1/statistics?agent_id=agent_none").status());
    assertEquals(200, Api.as(Role.READ).get("/v1/statistics").status());
  }

  @Test
  void nothingIsCountedByReadingAWholeTable() throws SQLException {
    Map<String, Sql> statements = new LinkedHashMap<>();
    for (Counts counts : List.of(Counts.OF_ALL, Counts.of("agent_1"))) {
      String of = counts == Counts.OF_ALL ? "of all" : "of an agent";
      statements.put("hours " + of, counts.hours);
      statements.put("failures " + of, counts.failures);
      statements.put("failed builds " + of, counts.failedBuilds);
      statements.put("running " + of, counts.running);
      statements.put("queued " + of, counts.queued);
      statements.put("executors " + of, counts.executors);
    }
    assertEquals("", ManyExecutions.wholeReads(dataSource, statements));
  }
}
