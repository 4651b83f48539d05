package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Suspended jobs under random kills. Each does something, sleeps, and does something else. System
 * properties: {@code sleeps.jobs}, {@code sleeps.kills}, {@code sleeps.seed}.
 */
@Tag("soak")
@EveryRuntime
class SleepSoakIT {
  private static final int JOBS = Integer.getInteger("sleeps.jobs", 10_000);
  private static final int KILLS = Integer.getInteger("sleeps.kills", 100);
  private static final long SEED = Long.getLong("sleeps.seed", 1);
  private static final int BATCH = 1_000;

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
              address, seconds = request.payload
              first = request.step("first", act, address)
              request.sleep(seconds)
              return [first, request.step("second", act, address)]
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
      String agent =
          client.agent(SCRIPT, "max_attempts", 10, "retry_delay", 0, "max_concurrency", 8);
      List<String> batches = new ArrayList<>();
      for (int jobs = 0; jobs < JOBS; jobs += BATCH) {
        String payloads =
            IntStream.range(0, Math.min(BATCH, JOBS - jobs))
                .map(job -> 2 + random.nextInt(LONGEST_SLEEP_SECONDS))
                .mapToObj(seconds -> "[%s, %d]".formatted(outside.address(), seconds))
                .collect(Collectors.joining(", ", "{\"payloads\": [", "]}"));
        JsonNode batch =
            client.post("/v1/agents/" + agent + "/execute-batch", payloads).expect(201).json();
        batches.add(batch.path("batch_id").asText());
      }
      // The kills are spread over the whole run, by what has been done.
      for (int kill = 1; kill <= KILLS; kill++) {
        int enough = (int) (2L * JOBS * kill / (KILLS + 1));
        Eventually.until("the jobs have gone on", () -> outside.told().size() >= enough);
        kills.killSomething();
        Eventually.until("it is back", () -> client.isReachable());
      }
      int attempts = 0;
      int ended = 0;
      Set<String> returned = new HashSet<>();
      for (String batch : batches) {
        for (JsonNode job : allEnded(client, batch)) {
          assertEquals("succeeded", job.path("state").asText(), () -> kills + " " + job);
          job.at("/execution/return_value").forEach(name -> returned.add(name.asText()));
          attempts += job.path("attempts").asInt();
          ended++;
        }
      }
      assertEquals(JOBS, ended, "nothing is lost");
      assertEquals(2 * JOBS, returned.size());
      Map<String, Long> effects = outside.counts();
      returned.forEach(name -> assertEquals(1, effects.get(name), () -> kills + " " + name));
      int again = attempts - JOBS;
      assertTrue(effects.size() - 2 * JOBS <= again, effects.size() + " effects, " + again);
      JsonNode statistics = client.get("/v1/statistics").expect(200).json();
      for (String state : List.of("queued", "running", "suspended")) {
        assertEquals(0, statistics.path(state).asInt(-1), state);
      }
      System.out.printf(
          "Sleeps (seed %d): %d jobs, %d attempts, %d effects; %s%n",
          SEED, JOBS, attempts, effects.size(), kills);
    }
  }

  private static List<JsonNode> allEnded(Client client, String batch) {
    List<JsonNode> found = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      String query = "/v1/executor-jobs?limit=100&batch_id=" + batch + cursor;
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
