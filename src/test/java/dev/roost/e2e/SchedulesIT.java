package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Schedules whose times really come: the shortest cron expression takes up to a minute. */
@EveryRuntime
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

  private static String schedule(Client client, String agent, String cron, Object... fields) {
    Map<String, Object> all = new HashMap<>(Map.of("agent_id", agent, "cron", cron));
    for (int i = 0; i < fields.length; i += 2) {
      all.put((String) fields[i], fields[i + 1]);
    }
    return client.post("/v1/schedules", Answer.write(all)).expect(201).json().path("id").asText();
  }

  private static JsonNode jobs(Client client, String schedule) {
    return client.get("/v1/executor-jobs?schedule_id=" + schedule).expect(200).json().path("data");
  }

  /** The ended job of the latest scheduled time. */
  private static JsonNode firstRun(Client client, String schedule) {
    return Await.value(
        "a run of " + schedule,
        TWO_MINUTES,
        () -> {
          JsonNode jobs = jobs(client, schedule);
          boolean ended =
              jobs.size() > 0 && !jobs.path(jobs.size() - 1).path("finished_at").isNull();
          return ended ? Optional.of(jobs.path(jobs.size() - 1)) : Optional.empty();
        });
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
    String schedule = schedule(client, agent, EVERY_MINUTE, "payload", List.of(1, 2));
    String spread = schedule(client, agent, EVERY_MINUTE, "jitter", 20);
    String planned = client.get("/v1/schedules/" + schedule).json().path("next_run_at").asText();
    JsonNode job = firstRun(client, schedule);
    JsonNode value = job.path("execution").path("return_value");
    assertEquals("succeeded", job.path("state").asText(), job.toString());
    assertEquals(planned, job.path("scheduled_time").asText());
    assertEquals(schedule, job.path("schedule_id").asText());
    assertTrue(value.path("scheduled").asBoolean());
    assertEquals(
        Instant.parse(planned), Instant.parse(value.path("time").asText().replace("+00:00", "Z")));
    assertEquals("[1,2]", value.path("payload").toString());
    double late = value.path("late").asDouble();
    assertTrue(late >= 0 && late < 30, "began " + late + " s after its time");
    JsonNode last = client.get("/v1/schedules/" + schedule).json().path("last_run");
    assertEquals(planned, last.path("scheduled_time").asText());
    assertEquals("succeeded", last.path("state").asText());
    String execution = job.path("execution").path("id").asText();
    JsonNode executions = client.get("/v1/executions?schedule_id=" + schedule).expect(200).json();
    assertTrue(Answer.column(executions, "id").contains(execution));
    delete(client, schedule);

    JsonNode putOff = firstRun(client, spread);
    delete(client, spread);
    Instant time = Instant.parse(putOff.path("scheduled_time").asText());
    assertEquals(0, time.getEpochSecond() % 60, "the nominal time, without the jitter");
    Duration by = Duration.between(time, Instant.parse(putOff.path("created_at").asText()));
    assertTrue(by.compareTo(Duration.ofSeconds(40)) < 0, by.toString());
  }

  @Test
  void aTriggeredRunIsNoScheduledOne(Client client) {
    String agent = client.agent(TELLING);
    String schedule = schedule(client, agent, "@yearly", "payload", "now", "state", "paused");
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
    JsonNode address = Answer.parse(gate.address());
    Map<String, String> schedules = new HashMap<>();
    for (String overlap : List.of("allow", "skip", "queue")) {
      String agent = client.agent(GATED);
      schedules.put(
          overlap, schedule(client, agent, EVERY_MINUTE, "overlap", overlap, "payload", address));
    }
    // One run of each is open when the time comes.
    schedules
        .values()
        .forEach(id -> client.post("/v1/schedules/" + id + "/trigger", null).expect(201));
    return schedules;
  }

  private static void whatOverlapsIsLeftOutOrWaitsOrRuns(
      Client client, Gate gate, Map<String, String> schedules) {
    Await.until(
        "the time has come",
        TWO_MINUTES,
        () ->
            jobs(client, schedules.get("allow")).size() >= 2
                && jobs(client, schedules.get("queue")).size() >= 2
                && skipped(client, schedules.get("skip")) >= 1);
    schedules.values().forEach(schedule -> pause(client, schedule));
    for (JsonNode job : jobs(client, schedules.get("allow"))) {
      client.logged(job.path("id").asText(), "waiting");
    }
    assertEquals(1, jobs(client, schedules.get("skip")).size());
    JsonNode queued = jobs(client, schedules.get("queue"));
    long running = 0;
    for (JsonNode job : queued) {
      running += job.path("state").asText().equals("running") ? 1 : 0;
      assertEquals(schedules.get("queue"), job.path("concurrency_key").asText());
    }
    assertEquals(1, running, queued.toString());
    gate.open();
    for (String schedule : schedules.values()) {
      for (JsonNode job : jobs(client, schedule)) {
        assertEquals("succeeded", client.ended(job.path("id").asText()).path("state").asText());
      }
    }
  }

  private static long skipped(Client client, String schedule) {
    String path = "/v1/events?after=0&types=schedule.skipped&subject=" + schedule;
    JsonNode page = client.get(path, "Accept", "application/json").expect(200).json();
    page.path("data")
        .forEach(event -> assertEquals("overlap", event.path("data").path("reason").asText()));
    return page.path("data").size();
  }

  private static void pause(Client client, String schedule) {
    client.send("PATCH", "/v1/schedules/" + schedule, "{\"state\": \"paused\"}").expect(200);
  }
}
