package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two control planes on one database: either serves, one leads, and both may be killed. */
@KubernetesOnly
class ControlPlaneReplicasIT {
  private static final long SEED = Long.getLong("soak.seed", 1);
  private static final int AGENTS = 2;

  /** Where nobody frees the lock of the one that has gone, it stays for minutes. */
  private static final Duration TAKE_OVER = Duration.ofSeconds(30);

  private static final Duration LIMIT = Duration.ofMinutes(10);

  private static final String COUNTED =
      Tally.TELL
          + """

          import time

          def main(request):
              tell(request.payload["tally"], request.payload["name"])
              time.sleep(request.payload["seconds"])
              return request.payload["name"]
          """;

  private static ReplicatedRoost roost;

  @BeforeAll
  static void start() {
    roost = new ReplicatedRoost();
    roost.start();
  }

  @AfterAll
  static void nothingIsLeft() {
    try (ReplicatedRoost itself = roost) {
      roost.pods().assertNothingIsLeft(roost.client(0));
    }
  }

  @Test
  void oneReplicaAnswersARequestToAnother() {
    String agent = roost.client(0).agent("def main(request): return request.payload * 2");
    String job = roost.client(1).submit(agent, "21");
    JsonNode ended = roost.client(0).ended(job);
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
    assertEquals(
        42, roost.client(1).execute(agent, "21").path("execution").path("return_value").asInt());
    assertEquals(
        42, roost.client(0).execute(agent, "21").path("execution").path("return_value").asInt());
  }

  @Test
  void aFollowerLeadsSoonWhenTheLeaderIsKilled() {
    anotherOneLeadsAfter("KILL");
  }

  /** The session of one is known to the other: which one a client reaches makes no difference. */
  @Test
  void aCallOfAToolGoesOnAtTheOtherReplica() throws Exception {
    String script =
        "import time\n\ndef main(request):\n    time.sleep(request.payload['s'])\n    return 'done'\n";
    String agent = roost.client(0).agent(script, "tool_name", "wait_a_while");
    assertEquals("succeeded", roost.client(0).execute(agent, "{\"s\": 0}").path("state").asText());
    String session =
        roost
            .client(0)
            .post("/mcp", rpc("initialize", "{\"protocolVersion\": \"2025-11-25\"}"))
            .expect(200)
            .header("Mcp-Session-Id");
    CompletableFuture<HttpAnswer> called =
        CompletableFuture.supplyAsync(() -> callTool(0, session, 600));
    String job =
        Eventually.value(
            "the call is a job that runs",
            () ->
                roost
                    .client(1)
                    .get("/v1/executor-jobs?state=running&agent_id=" + agent)
                    .json()
                    .path("data")
                    .valueStream()
                    .map(each -> each.path("id").asText())
                    .findFirst());
    String cancel =
        "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/cancelled\", \"params\": {\"requestId\": 1}}";
    roost.client(1).post("/mcp", cancel, "Mcp-Session-Id", session).expect(202);
    String ended = called.get(120, TimeUnit.SECONDS).text();
    assertTrue(ended.contains("The execution was cancelled."), ended);
    assertEquals("cancelled", roost.client(1).job(job).path("state").asText());

    String events = callTool(0, session, 1).text();
    String first = events.substring(events.indexOf("id: ") + 4).lines().findFirst().orElseThrow();
    String continued =
        roost
            .client(1)
            .get("/mcp", "Accept", "text/event-stream", "Last-Event-ID", first)
            .expect(200)
            .text();
    assertTrue(continued.contains("\"text\":\"done\""), continued);
  }

  private static HttpAnswer callTool(int replica, String session, int seconds) {
    return roost
        .client(replica)
        .post(
            "/mcp",
            rpc(
                "tools/call",
                "{\"name\": \"wait_a_while\", \"arguments\": {\"s\": %d}}".formatted(seconds)),
            "Accept",
            "application/json, text/event-stream",
            "MCP-Protocol-Version",
            "2025-11-25",
            "Mcp-Session-Id",
            session);
  }

  private static String rpc(String method, String params) {
    return "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"%s\", \"params\": %s}"
        .formatted(method, params);
  }

  /** Executors that it held wait until they give up its connections. */
  @Test
  @Tag("soak")
  void aFollowerLeadsSoonWhenTheLeaderStandsStill() {
    anotherOneLeadsAfter("STOP");
  }

  private static void anotherOneLeadsAfter(String signal) {
    int leader = Eventually.value("one leads", () -> roost.leader());
    Machine.signal(roost.replica(leader).pid(), signal);
    try {
      Eventually.until(
          "another one leads after " + signal,
          TAKE_OVER,
          () -> roost.leader().filter(now -> now != leader).isPresent());
      String agent = roost.client(1 - leader).agent("def main(): return 1");
      JsonNode ended = roost.client(1 - leader).execute(agent, null);
      assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
    } finally {
      if (signal.equals("STOP")) {
        Machine.signal(roost.replica(leader).pid(), "CONT");
      } else {
        roost.replica(leader).start();
      }
    }
    roost.replica(0).awaitReady();
    roost.replica(1).awaitReady();
  }

  @Test
  void noJobIsLostOrRunsTwiceWhenReplicasAreKilled() {
    killWhileJobsRun(100, 3, 1.5);
  }

  @Test
  @Tag("soak")
  void noneOfManyJobsIsLostOrRunsTwiceWhenReplicasAreKilledRepeatedly() {
    killWhileJobsRun(500, 15, 1);
  }

  private void killWhileJobsRun(int count, int kills, double seconds) {
    Random random = new Random(SEED);
    try (Tally tally = new Tally()) {
      List<String> agents = new ArrayList<>();
      for (int i = 0; i < AGENTS; i++) {
        agents.add(roost.client(i % 2).agent(COUNTED, "max_concurrency", 4));
      }
      List<String> jobs = new ArrayList<>();
      for (int number = 0; number < count; number++) {
        String payload =
            "{\"tally\": %s, \"name\": \"job %d\", \"seconds\": %s}"
                .formatted(tally.address(), number, seconds);
        jobs.add(roost.client(number % 2).submit(agents.get(number % AGENTS), payload));
      }
      for (int kill = 0; kill < kills; kill++) {
        int progress = count * (kill + 1) / (kills + 2);
        Eventually.until(
            progress + " jobs run before kill " + kill,
            LIMIT,
            () -> tally.told().size() >= progress);
        RoostProcess victim = roost.replica(random.nextInt(2));
        victim.kill9();
        victim.start();
      }
      for (String job : jobs) {
        JsonNode ended = roost.client(random.nextInt(2)).ended(job, LIMIT);
        assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
        assertEquals(1, ended.path("attempts").asInt(), ended::toPrettyString);
      }
      Map<String, Long> notOnce =
          tally.counts().entrySet().stream()
              .filter(one -> one.getValue() != 1)
              .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
      assertEquals(Map.of(), notOnce);
      assertEquals(count, tally.counts().size());
    }
  }
}
