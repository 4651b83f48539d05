package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Suspended jobs under random kills. Each does something, sleeps, waits for an event and for a
 * decision, calls another agent, and does something else. Some of the events come before the wait.
 * System properties: {@code waits.jobs}, {@code waits.kills}, {@code waits.seed}.
 */
@Tag("soak")
@EveryRuntime
class WaitsSoakIT {
  private static final int JOBS = Integer.getInteger("waits.jobs", 10_000);
  private static final int KILLS = Integer.getInteger("waits.kills", 100);
  private static final long SEED = Long.getLong("waits.seed", 1);
  private static final int BATCH = 1_000;

  /** What a job does, counting that of the job that it calls. */
  private static final int EFFECTS = 3;

  /** Some wake up at the same time, and some soon after they have begun. */
  private static final int LONGEST_SLEEP_SECONDS = 60;

  private static final String SCRIPT =
      Tally.TELL
          + """

          import random

          def act(address):
              name = f"{random.getrandbits(64):x}"
              tell(address, name)
              return name

          def main(request):
              address, seconds, key, callee = request.payload
              if callee is None:
                  return request.step("called", act, address)
              first = request.step("first", act, address)
              request.sleep(seconds)
              event = request.wait_for_event("go", key=key)
              decision = request.approval(key)
              called = request.call(callee, [address, 0, None, None])
              return [event, first, called, request.step("second", act, address), decision.comment]
          """;

  private static RoostProcess roost;

  @BeforeAll
  static void start() {
    roost = RoostProcess.started("ROOST_EXECUTORS_SUSPEND_AFTER", "1s");
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  @Test
  void eachIsResumedAndHasItsEffectsOnce() {
    Client client = roost.client();
    StoreKills kills = new StoreKills(roost, SEED);
    Random random = new Random(SEED);
    try (Tally outside = new Tally()) {
      String callee = client.agent(SCRIPT, "max_attempts", 10, "retry_delay", 0);
      String agent =
          client.agent(SCRIPT, "max_attempts", 10, "retry_delay", 0, "max_concurrency", 8);
      List<String> batches = new ArrayList<>();
      for (int jobs = 0; jobs < JOBS; jobs += BATCH) {
        String payloads =
            IntStream.range(jobs, Math.min(jobs + BATCH, JOBS))
                .mapToObj(
                    job ->
                        "[%s, %d, \"%s\", \"%s\"]"
                            .formatted(
                                outside.address(),
                                2 + random.nextInt(LONGEST_SLEEP_SECONDS),
                                key(job),
                                callee))
                .collect(Collectors.joining(", ", "{\"payloads\": [", "]}"));
        JsonNode batch =
            client.post("/v1/agents/" + agent + "/execute-batch", payloads).expect(201).json();
        batches.add(batch.path("batch_id").asText());
      }
      CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> sendAll(client, outside));
      CompletableFuture<Void> decided = CompletableFuture.runAsync(() -> decideAll(client));
      // The kills are spread over the whole run, by what has been done.
      for (int kill = 1; kill <= KILLS; kill++) {
        int enough = (int) ((long) EFFECTS * JOBS * kill / (KILLS + 1));
        Eventually.until(
            "the jobs have gone on",
            () ->
                outside.told().size() >= enough
                    || sent.isCompletedExceptionally()
                    || decided.isCompletedExceptionally());
        kills.killSomething();
        Eventually.until("it is back", () -> client.isReachable());
      }
      sent.join();
      decided.join();
      int attempts = 0;
      int ended = 0;
      Set<String> returned = new HashSet<>();
      Set<String> received = new HashSet<>();
      for (String batch : batches) {
        for (JsonNode job : allEnded(client, "batch_id=" + batch)) {
          assertEquals("succeeded", job.path("state").asText(), () -> kills + " " + job);
          JsonNode value = job.at("/execution/return_value");
          assertEquals(job.at("/payload/2"), value.path(0), () -> kills + " " + job);
          assertEquals(job.at("/payload/2"), value.path(EFFECTS + 1), () -> kills + " " + job);
          received.add(value.path(0).asText());
          IntStream.rangeClosed(1, EFFECTS).forEach(i -> returned.add(value.path(i).asText()));
          attempts += job.path("attempts").asInt();
          ended++;
        }
      }
      assertEquals(JOBS, ended, "nothing is lost");
      assertEquals(JOBS, received.size(), "each event is received once");
      assertEquals(EFFECTS * JOBS, returned.size());
      List<JsonNode> called = allEnded(client, "agent_id=" + callee);
      assertEquals(JOBS, called.size(), "each job has called once");
      attempts += called.stream().mapToInt(job -> job.path("attempts").asInt()).sum();
      Map<String, Long> effects = outside.counts();
      returned.forEach(name -> assertEquals(1, effects.get(name), () -> kills + " " + name));
      int again = attempts - 2 * JOBS;
      assertTrue(effects.size() - EFFECTS * JOBS <= again, effects.size() + ", " + again);
      JsonNode statistics = client.get("/v1/statistics").expect(200).json();
      for (String state : List.of("queued", "running", "suspended")) {
        assertEquals(0, statistics.path(state).asInt(-1), state);
      }
      System.out.printf(
          "Waits (seed %d): %d jobs, %d attempts with those that they called, %d effects; %s%n",
          SEED, JOBS, attempts, effects.size(), kills);
    }
  }

  private static String key(int job) {
    return "job-" + job;
  }

  /** Every second event at once, the others while the jobs go on. */
  private static void sendAll(Client client, Tally outside) {
    for (int job = 0; job < JOBS; job += 2) {
      send(client, job);
    }
    for (int job = 1; job < JOBS; job += 2) {
      int enough = job;
      Eventually.until("the jobs have gone on", () -> outside.told().size() >= enough);
      send(client, job);
    }
  }

  /** Decides until all jobs have asked, each once. */
  private static void decideAll(Client client) {
    Set<String> decided = new HashSet<>();
    while (decided.size() < JOBS) {
      List<JsonNode> pending =
          Eventually.value(
              "somebody asks",
              () -> {
                JsonNode page = client.get("/v1/approvals?state=pending&limit=100").json();
                List<JsonNode> found = page.path("data").valueStream().toList();
                return found.isEmpty() ? Optional.empty() : Optional.of(found);
              });
      for (JsonNode approval : pending) {
        String id = approval.path("id").asText();
        String body = "{\"comment\": \"%s\"}".formatted(approval.path("title").asText());
        // 409: the decision was stored, and its answer was lost.
        Eventually.until(
            "it is decided",
            () ->
                List.of(200, 409)
                    .contains(client.post("/v1/approvals/" + id + "/approve", body).status()));
        assertTrue(decided.add(id), id + " is pending although it was decided");
      }
    }
  }

  private static void send(Client client, int job) {
    String event =
        "{\"name\": \"go\", \"key\": \"%s\", \"data\": \"%s\"}".formatted(key(job), key(job));
    Eventually.until(
        "it is sent",
        () -> client.post("/v1/events", event, "Idempotency-Key", key(job)).status() / 100 == 2);
  }

  private static List<JsonNode> allEnded(Client client, String filter) {
    List<JsonNode> found = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      String query = "/v1/executor-jobs?limit=100&" + filter + cursor;
      JsonNode page = client.get(query).expect(200).json();
      for (JsonNode job : page.path("data")) {
        found.add(job.path("finished_at").isNull() ? client.ended(job.path("id").asText()) : job);
      }
      JsonNode next = page.path("next_cursor");
      cursor = next.isNull() ? null : "&cursor=" + next.asText();
    }
    return found;
  }
}
