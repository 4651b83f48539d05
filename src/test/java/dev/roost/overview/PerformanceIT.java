package dev.roost.overview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.HistoryRows;
import dev.roost.api.Ids;
import dev.roost.api.Role;
import dev.roost.db.Database;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An agent's outcomes, durations and waits, of rows as executions leave them. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class PerformanceIT {
  @Inject Database database;

  private HistoryRows rows;
  private Api api;
  private String agent;
  private Instant thisHour;

  @BeforeEach
  void makeAgent() {
    rows = new HistoryRows(database);
    api = Api.as(Role.WRITE);
    agent = agent();
    thisHour = Instant.now().truncatedTo(ChronoUnit.HOURS);
  }

  private String agent() {
    return api.post("/v1/agents", "{\"script\": \"\", \"name\": \"name" + Ids.next("x") + "\"}")
        .get("id");
  }

  private JsonNode performance(String parameters) {
    Answer answer = api.get("/v1/agents/" + agent + "/performance?" + parameters);
    assertEquals(200, answer.status(), answer.text());
    return tree(answer.text());
  }

  private static JsonNode tree(String json) {
    try {
      return new ObjectMapper().readTree(json);
    } catch (JsonProcessingException e) {
      throw new AssertionError(json, e);
    }
  }

  private void ended(
      String state, Instant finishedAt, double seconds, double queued, int revision) {
    String id =
        rows.execution(agent, state, state.equals("succeeded") ? null : "exception", finishedAt);
    rows.run(
        """
        update execution set started_at = finished_at - interval '1 second' * %s, queued_seconds = %s,
          agent_revision = %s, cold_start = %s, max_memory_bytes = %s
        where id = '%s'""",
        seconds, queued, revision, revision == 2, 1_000_000L * revision, id);
  }

  @Test
  void intervalsHaveOutcomesPercentilesAndThePeakOfTheMemory() {
    Instant hourAgo = thisHour.minus(Duration.ofMinutes(30));
    for (int i = 1; i <= 100; i++) {
      ended("succeeded", hourAgo, i, i / 100.0, 1);
    }
    ended("failed", thisHour.minus(Duration.ofMinutes(90)), 7, 0, 2);
    ended("cancelled", thisHour.minus(Duration.ofMinutes(90)), 1_000, 0, 2);
    JsonNode seen = performance("hours=3");
    assertEquals(3_600, seen.get("interval_seconds").asInt());
    assertTrue(seen.get("complete").asBoolean());
    assertEquals(3, seen.get("intervals").size());
    JsonNode first = seen.at("/intervals/0");
    assertEquals(thisHour.minus(Duration.ofHours(2)), Instant.parse(first.get("start").asText()));
    assertEquals(1, first.at("/figures/failed").asInt());
    assertEquals(1, first.at("/figures/cancelled").asInt());
    assertEquals(2, first.at("/figures/cold_starts").asInt());
    assertEquals(7, first.at("/figures/duration/p99").asDouble(), 1e-6);
    JsonNode second = seen.at("/intervals/1/figures");
    assertEquals(100, second.get("succeeded").asInt());
    assertEquals(50.5, second.at("/duration/p50").asDouble(), 1e-6);
    assertEquals(95.05, second.at("/duration/p95").asDouble(), 1e-6);
    assertEquals(0.505, second.at("/queued/p50").asDouble(), 1e-6);
    assertEquals(1_000_000, second.get("max_memory_bytes").asLong());
    JsonNode none = seen.at("/intervals/2/figures");
    assertEquals(0, none.get("succeeded").asInt());
    assertTrue(none.get("duration").isNull());
    JsonNode total = seen.get("total");
    assertEquals(100, total.get("succeeded").asInt());
    assertEquals(1, total.get("failed").asInt());
    assertEquals(2_000_000, total.get("max_memory_bytes").asLong());
  }

  @Test
  void revisionsAreMarkedWhereTheyRanFirst() {
    ended("succeeded", thisHour.minus(Duration.ofDays(40)), 1, 0, 1);
    ended("succeeded", thisHour.minus(Duration.ofDays(3)), 1, 0, 1);
    ended("succeeded", thisHour.minus(Duration.ofDays(2)), 60, 0, 2);
    ended("succeeded", thisHour.minus(Duration.ofDays(1)), 1, 0, 2);
    ended("succeeded", thisHour.minus(Duration.ofHours(2)), 1, 0, 3);
    JsonNode seen = performance("hours=168");
    assertEquals(21_600, seen.get("interval_seconds").asInt());
    assertEquals(28, seen.get("intervals").size());
    JsonNode revisions = seen.get("revisions");
    assertEquals(2, revisions.size());
    assertEquals(2, revisions.at("/0/revision").asInt());
    assertEquals(
        thisHour.minus(Duration.ofDays(2)).minusSeconds(60),
        Instant.parse(revisions.at("/0/started_at").asText()));
    assertEquals(3, revisions.at("/1/revision").asInt());
    assertEquals(86_400, performance("hours=720").get("interval_seconds").asInt());
    assertEquals(30, performance("hours=720").get("intervals").size());
  }

  @Test
  void anAgentWithoutExecutionsHasNoPercentiles() {
    JsonNode total = performance("").get("total");
    assertEquals(0, total.get("succeeded").asInt());
    assertTrue(total.get("duration").isNull());
    assertTrue(total.get("max_memory_bytes").isNull());
    assertEquals(24, performance("").get("intervals").size());
  }

  @Test
  void otherAgentsDoNotCount() {
    rows.execution(agent(), "failed", "exception", Instant.now());
    assertEquals(0, performance("").at("/total/failed").asInt());
  }

  @Test
  void unknownAgentsAndWrongHoursAreRejected() {
    assertEquals(404, api.get("/v1/agents/agent_none/performance").status());
    for (String hours : new String[] {"0", "721", "many"}) {
      Answer answer = api.get("/v1/agents/" + agent + "/performance?hours=" + hours);
      assertEquals(422, answer.status(), answer.text());
    }
  }
}
