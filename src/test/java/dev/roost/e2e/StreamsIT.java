package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Values that scripts emit. */
@EveryRuntime
class StreamsIT {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static RoostProcess roost;
  private static Client client;

  @BeforeAll
  static void start() {
    roost = RoostProcess.started();
    client = roost.client();
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  /** Follows a job to its end, as clients do: what is cut off, it resumes after its last value. */
  private static final class Follower {
    private final String job;
    private final List<String> ids = new ArrayList<>();
    private final List<JsonNode> values = new ArrayList<>();
    private final List<JsonNode> progress = new ArrayList<>();
    private JsonNode end;
    private int cuts;

    Follower(String job) {
      this.job = job;
    }

    Follower follow() {
      while (end == null) {
        String after = ids.isEmpty() ? "" : "?after=" + ids.get(ids.size() - 1);
        try (Stream<String> lines =
            client.lines(
                "/v1/executor-jobs/" + job + "/stream" + after, "Accept", "application/x-ndjson")) {
          lines.filter(line -> !line.isEmpty()).forEach(this::take);
        } catch (Unreachable | UncheckedIOException e) {
          // The control plane was killed.
        }
        if (end == null) {
          cuts++;
          Eventually.pause();
        }
      }
      return this;
    }

    private void take(String line) {
      JsonNode item = json(line);
      if (item.has("value")) {
        synchronized (this) {
          ids.add(item.path("id").asText());
          values.add(item.path("value"));
        }
      } else if (item.has("progress")) {
        progress.add(item.path("progress"));
      } else if (item.has("end")) {
        end = item.path("end");
      }
    }

    private static JsonNode json(String line) {
      try {
        return MAPPER.readTree(line);
      } catch (JsonProcessingException e) {
        throw new IllegalStateException("cut off within a line: " + line, e);
      }
    }

    synchronized int count() {
      return values.size();
    }
  }

  @Test
  void valuesComeWhileTheScriptRunsAndOnceThroughAllExecutionsOfAnAttempt() {
    String agent =
        client.agent(
            """
            def main(request):
                request.progress(0.5, "writing")
                for word in ["to", "be", {"or": None}]:
                    yield word
                last = request.wait_for_event("go")
                yield last
                return "to be"
            """);
    String job = client.submit(agent, "null");
    Follower follower = new Follower(job);
    CompletableFuture<Follower> following = CompletableFuture.supplyAsync(follower::follow);
    Eventually.until("the first values came", () -> follower.count() == 3);
    Eventually.until(
        "the job is suspended", () -> client.job(job).path("waiting_on").asText().equals("event"));
    client
        .post("/v1/executor-jobs/" + job + "/events", "{\"name\": \"go\", \"data\": \"not\"}")
        .expect(201);
    following.orTimeout(180, TimeUnit.SECONDS).join();
    assertEquals("[\"to\", \"be\", {\"or\":null}, \"not\"]", follower.values.toString());
    assertEquals(List.of("1-1", "1-2", "1-3", "1-4"), follower.ids);
    assertEquals("\"to be\"", follower.end.at("/execution/return_value").toString());
    assertEquals("writing", follower.progress.get(0).path("message").asText());
    JsonNode page = client.get("/v1/executor-jobs/" + job + "/stream").expect(200).json();
    assertEquals(4, page.path("data").size(), page::toString);
  }

  /**
   * Whatever is killed: no gap and no value twice in an attempt, and all values in the last one.
   */
  @Test
  void followersMissNothingThroughKillsOfEveryPart() {
    int many = 400;
    String agent =
        client.agent(
            """
            import time

            def main(request):
                for n in range(1, request.payload + 1):
                    yield n
                    time.sleep(0.05)
            """,
            "max_attempts",
            10,
            "retry_delay",
            0);
    StoreKills kills = new StoreKills(roost, 2);
    String job = client.submit(agent, "" + many);
    Follower follower = new Follower(job);
    CompletableFuture<Follower> following = CompletableFuture.supplyAsync(follower::follow);
    // The executor's parts last, since another attempt begins then.
    for (int kind = StoreKills.KINDS - 1; kind >= 0; kind--) {
      int enough = follower.count() + 20;
      Eventually.until("values come", () -> follower.count() >= enough);
      kills.kill(kind);
    }
    following.orTimeout(240, TimeUnit.SECONDS).join();
    String seen = kills + ", " + follower.cuts + " cuts";
    assertEquals("succeeded", follower.end.path("state").asText(), seen);
    int last = follower.end.path("attempts").asInt();
    assertTrue(follower.cuts > 0, seen);
    for (int attempt = 1; attempt <= last; attempt++) {
      String prefix = attempt + "-";
      List<String> ids = follower.ids.stream().filter(id -> id.startsWith(prefix)).toList();
      assertEquals(
          IntStream.rangeClosed(1, ids.size()).mapToObj(n -> prefix + n).toList(), ids, seen);
      if (attempt == last) {
        assertEquals(many, ids.size(), seen);
      }
    }
    for (int i = 0; i < follower.ids.size(); i++) {
      assertEquals(
          follower.ids.get(i).split("-")[1], follower.values.get(i).toString(), "the value");
    }
  }
}
