package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Schedules whose times really come: the shortest cron expression takes up to a minute. */
@EveryRuntime
@LocalOnly("a schedule submits jobs as everybody does")
@ExtendWith(SharedRoost.class)
class SchedulesIT {
  private static final String EVERY_MINUTE = "* * * * *";

  /** A scheduled time and what makes a job of it. */
  private static final Duration TWO_MINUTES = Duration.ofSeconds(150);

  /** Runs until the gate opens whose address is its payload. */
  private static final String GATED =
      """
      import socket

      def main(request):
          print("waiting")
          socket.create_connection(request.payload).recv(1)
          return "done"
      """;

  private static final String TELLING =
      """
      from datetime import datetime, timezone

      def main(request):
          print("told")
          return {"scheduled": request.scheduled, "payload": request.payload,
                  "time": request.scheduled_time and request.scheduled_time.isoformat(),
                  "late": request.scheduled_time
                  and (datetime.now(timezone.utc) - request.scheduled_time).total_seconds()}
      """;

  private static JsonNode schedule(Client client, String agent, String cron, Object... fields) {
    Map<String, Object> all = new HashMap<>(Map.of("agent_id", agent, "cron", cron));
    for (int i = 0; i < fields.length; i += 2) {
      all.put((String) fields[i], fields[i + 1]);
    }
    return client.post("/v1/schedules", HttpAnswer.write(all)).expect(201).json();
  }

  private static JsonNode page(Client client, String schedule) {
    return client.get("/v1/executor-jobs?schedule_id=" + schedule).expect(200).json();
  }

  private static JsonNode jobs(Client client, String schedule) {
    return page(client, schedule).path("data");
  }

  /**
   * The ended job of the first scheduled time; the schedule is paused, so that there is no other.
   */
  private static JsonNode onlyRun(Client client, String schedule) {
    String job =
        Eventually.value(
            "a run of " + schedule,
            TWO_MINUTES,
            () ->
                HttpAnswer.column(page(client, schedule), "id").stream()
                    .reduce((newer, older) -> older));
    set(client, schedule, "paused");
    return client.ended(job);
  }

  private static Duration untilSubmitted(JsonNode job) {
    return Duration.between(
        Instant.parse(job.path("scheduled_time").asText()),
        Instant.parse(job.path("created_at").asText()));
  }

  private static void delete(Client client, String schedule) {
    client.send("DELETE", "/v1/schedules/" + schedule, null).expect(204);
  }

  /** All in one, since they wait for the same minute. */
  @Test
  void aScriptRunsWhenItsTimeComesUnlessItOverlaps(Client client, Gate gate) {
    Map<String, String> overlapping = overlapping(client, gate);
    isToldWhichTimeItIs(client);
    whatOverlapsIsLeftOutOrWaitsOrRuns(client, gate, overlapping);
  }

  private static void isToldWhichTimeItIs(Client client) {
    String agent = client.agent(TELLING);
    client.execute(agent, null); // so that its environment is there
    JsonNode made = schedule(client, agent, EVERY_MINUTE, "payload", List.of(1, 2));
    String schedule = made.path("id").asText();
    String spread = schedule(client, agent, EVERY_MINUTE, "jitter", 20).path("id").asText();
    String planned = made.path("next_run_at").asText();
    JsonNode job = onlyRun(client, schedule);
    JsonNode value = job.path("execution").path("return_value");
    assertEquals("succeeded", job.path("state").asText(), job.toString());
    assertEquals(planned, job.path("scheduled_time").asText());
    assertEquals(schedule, job.path("schedule_id").asText());
    assertTrue(value.path("scheduled").asBoolean());
    assertEquals(
        Instant.parse(planned), Instant.parse(value.path("time").asText().replace("+00:00", "Z")));
    assertEquals("[1,2]", value.path("payload").toString());
    double late = value.path("late").asDouble();
    assertTrue(late >= 0, "began " + late + " s after its time");
    Duration until = untilSubmitted(job);
    assertTrue(until.compareTo(Duration.ofSeconds(30)) < 0, until.toString());
    JsonNode last = client.get("/v1/schedules/" + schedule).json().path("last_run");
    assertEquals(planned, last.path("scheduled_time").asText());
    assertEquals("succeeded", last.path("state").asText());
    String execution = job.path("execution").path("id").asText();
    JsonNode executions = client.get("/v1/executions?schedule_id=" + schedule).expect(200).json();
    assertTrue(HttpAnswer.column(executions, "id").contains(execution));
    delete(client, schedule);

    JsonNode putOff = onlyRun(client, spread);
    delete(client, spread);
    Instant time = Instant.parse(putOff.path("scheduled_time").asText());
    assertEquals(0, time.getEpochSecond() % 60, "the nominal time, without the jitter");
    Duration by = untilSubmitted(putOff);
    assertTrue(by.compareTo(Duration.ofSeconds(50)) < 0, by.toString());
  }

  @Test
  void aTriggeredRunIsNoScheduledOne(Client client) {
    String agent = client.agent(TELLING);
    String schedule =
        schedule(client, agent, "@yearly", "payload", "now", "state", "paused").path("id").asText();
    JsonNode job =
        client.post("/v1/schedules/" + schedule + "/trigger?wait=60", null).expect(201).json();
    JsonNode value = client.ended(job.path("id").asText()).path("execution").path("return_value");
    assertFalse(value.path("scheduled").asBoolean());
    assertTrue(value.path("time").isNull());
    assertEquals("now", value.path("payload").asText());
    assertTrue(client.get("/v1/schedules/" + schedule).json().path("last_run").isNull());
  }

  /** Of each policy one schedule, of which a run is open, by the policy. */
  private static Map<String, String> overlapping(Client client, Gate gate) {
    JsonNode address = HttpAnswer.parse(gate.address());
    Map<String, String> schedules = new HashMap<>();
    for (String overlap : List.of("allow", "skip", "queue")) {
      String agent = client.agent(GATED);
      JsonNode made =
          schedule(
              client,
              agent,
              EVERY_MINUTE,
              "overlap",
              overlap,
              "payload",
              address,
              "state",
              "paused");
      schedules.put(overlap, made.path("id").asText());
    }
    // One run of each is open when the time comes.
    for (String id : schedules.values()) {
      client.post("/v1/schedules/" + id + "/trigger", null).expect(201);
      set(client, id, "active");
    }
    return schedules;
  }

  private static void whatOverlapsIsLeftOutOrWaitsOrRuns(
      Client client, Gate gate, Map<String, String> schedules) {
    Eventually.until(
        "the time has come",
        TWO_MINUTES,
        () ->
            jobs(client, schedules.get("allow")).size() >= 2
                && jobs(client, schedules.get("queue")).size() >= 2
                && skipped(client, schedules.get("skip")) >= 1);
    schedules.values().forEach(schedule -> set(client, schedule, "paused"));
    for (JsonNode job : jobs(client, schedules.get("allow"))) {
      client.logged(job.path("id").asText(), "waiting");
    }
    assertEquals(1, jobs(client, schedules.get("skip")).size());
    String queue = schedules.get("queue");
    Eventually.until("one of the queue runs", () -> running(client, queue) > 0);
    assertEquals(1, running(client, queue));
    for (JsonNode job : jobs(client, queue)) {
      assertEquals(queue, job.path("concurrency_key").asText());
    }
    gate.open();
    for (String schedule : schedules.values()) {
      for (JsonNode job : jobs(client, schedule)) {
        assertEquals("succeeded", client.ended(job.path("id").asText()).path("state").asText());
      }
    }
  }

  private static int running(Client client, String schedule) {
    return Collections.frequency(HttpAnswer.column(page(client, schedule), "state"), "running");
  }

  private static long skipped(Client client, String schedule) {
    String path = "/v1/events?after=0&types=schedule.skipped&subject=" + schedule;
    JsonNode page = client.get(path, "Accept", "application/json").expect(200).json();
    page.path("data")
        .forEach(event -> assertEquals("overlap", event.path("data").path("reason").asText()));
    return page.path("data").size();
  }

  private static void set(Client client, String schedule, String state) {
    client
        .send("PATCH", "/v1/schedules/" + schedule, HttpAnswer.write(Map.of("state", state)))
        .expect(200);
  }
}
