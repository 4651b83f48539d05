package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What agents may run at the same time, under load and with little room. */
@EveryRuntime
class SharingIT {
  private static final int ROOM = 4;

  /** Says when it begins and ends, in the order in which that happens. */
  private static final String TELLING =
      Tally.TELL
          + """

          import time

          def main(request):
              address, name, gate = request.payload
              tell(address, "+" + name)
              if gate:
                  socket.create_connection(gate).recv(1)
              time.sleep(0.02)
              tell(address, "-" + name)
          """;

  /**
   * Long enough that few end while another agent's executor starts, be it slowly, and short beside
   * the time that all of them take.
   */
  private static final String SLEEPING = "import time\n\ndef main():\n    time.sleep(0.5)\n";

  private static RoostProcess roost;

  @BeforeAll
  static void start() {
    roost =
        RoostProcess.started(
            "ROOST_LOCAL_MAX_EXECUTORS", "" + ROOM, "ROOST_KUBERNETES_MAX_EXECUTORS", "" + ROOM);
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  @Test
  void neitherAnAgentsLimitNorAKeyIsEverExceeded() {
    Client client = roost.client();
    try (Tally tally = new Tally();
        Gate gate = new Gate()) {
      String limited = client.agent(TELLING, "max_concurrency", 2);
      String keyed = client.agent(TELLING, "max_concurrency", 4);
      List<String> jobs = new ArrayList<>();
      jobs.addAll(batch(client, limited, payloads(tally, "limited", gate.address(), 150), ""));
      for (int key = 0; key < 3; key++) {
        String name = "key" + key;
        jobs.addAll(
            batch(
                client,
                keyed,
                payloads(tally, name, null, 40),
                ", \"concurrency_key\": \"" + name + "\""));
      }
      // Else they might be over before a second executor is there.
      Eventually.until("as many as may run do", () -> gate.arrivals() == 2);
      gate.open();
      jobs.forEach(job -> assertEquals("succeeded", client.ended(job).path("state").asText()));
      Map<String, Integer> most = mostAtOnce(tally.told());
      System.out.println("at once: " + most + " of " + jobs.size() + " executions");
      assertEquals(Map.of("limited", 2, "key0", 1, "key1", 1, "key2", 1), most);
    }
  }

  private static List<String> payloads(Tally tally, String name, String gate, int count) {
    return Collections.nCopies(count, "[%s, \"%s\", %s]".formatted(tally.address(), name, gate));
  }

  /** How many of each name had begun and not ended, at most. */
  private static Map<String, Integer> mostAtOnce(List<String> told) {
    Map<String, Integer> now = new HashMap<>();
    Map<String, Integer> most = new HashMap<>();
    for (String line : told) {
      String name = line.substring(1);
      int count = now.merge(name, line.charAt(0) == '+' ? 1 : -1, Integer::sum);
      most.merge(name, count, Math::max);
    }
    now.forEach((name, count) -> assertEquals(0, count, name));
    return most;
  }

  /** As many as may wait, and one that comes after them. */
  @Test
  void oneAgentsLongQueueDoesNotKeepAnotherAgentsFirstJobWaiting() {
    Client client = roost.client();
    String greedy = client.agent(SLEEPING, "max_concurrency", 100);
    for (int i = 0; i < 10; i++) {
      batch(client, greedy, Collections.nCopies(1_000, "1"), "");
    }
    Eventually.until("it has all the room", () -> running(client, greedy) == ROOM);
    String other = client.agent(SLEEPING);
    String job = client.submit(other, null);
    JsonNode first = client.ended(job);
    Instant ordered = time(first, "created_at");
    Instant started = time(first.path("execution"), "started_at");
    assertEquals("succeeded", first.path("state").asText());
    long passed =
        executions(client, greedy).stream()
            .map(execution -> time(execution, "started_at"))
            .filter(time -> time.isAfter(ordered) && time.isBefore(started))
            .count();
    System.out.printf(
        "the other agent's first job started after %d ms; %d of the first agent's 10,000 came before it%n",
        Duration.between(ordered, started).toMillis(), passed);
    assertTrue(passed < 1_000, () -> passed + " came before it");
    client.send("DELETE", "/v1/agents/" + greedy, null).expect(204);
  }

  @Test
  void aFullQueueSaysWhenToComeAgain() {
    Client client = roost.client();
    String agent =
        client.agent("import time\n\ndef main():\n    time.sleep(60)", "max_concurrency", 1);
    for (int i = 0; i < 10; i++) {
      batch(client, agent, Collections.nCopies(999, "1"), "");
    }
    HttpAnswer full =
        client.post(
            "/v1/agents/" + agent + "/execute-batch", body(Collections.nCopies(100, "1"), ""));
    assertEquals(429, full.status());
    assertEquals("queue_full", full.json().path("code").asText());
    assertTrue(Integer.parseInt(full.headers().firstValue("Retry-After").orElseThrow()) > 0);
    client.submit(agent, null);
    client.send("DELETE", "/v1/agents/" + agent, null).expect(204);
  }

  private static int running(Client client, String agent) {
    return client
        .get("/v1/executions?state=running&agent_id=" + agent)
        .expect(200)
        .json()
        .path("data")
        .size();
  }

  private static List<JsonNode> executions(Client client, String agent) {
    List<JsonNode> all = new ArrayList<>();
    String cursor = "";
    do {
      JsonNode page =
          client.get("/v1/executions?limit=200&agent_id=" + agent + cursor).expect(200).json();
      page.path("data").forEach(all::add);
      cursor =
          page.path("next_cursor").isNull() ? null : "&cursor=" + page.path("next_cursor").asText();
    } while (cursor != null);
    return all;
  }

  private static Instant time(JsonNode node, String field) {
    return Instant.parse(node.path(field).asText());
  }

  private static List<String> batch(
      Client client, String agent, List<String> payloads, String options) {
    JsonNode ids =
        client
            .post("/v1/agents/" + agent + "/execute-batch", body(payloads, options))
            .expect(201)
            .json()
            .path("executor_job_ids");
    assertEquals(payloads.size(), ids.size());
    return IntStream.range(0, ids.size()).mapToObj(i -> ids.path(i).asText()).toList();
  }

  private static String body(List<String> payloads, String options) {
    return "{\"payloads\": [" + String.join(",", payloads) + "]" + options + "}";
  }
}
