package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What becomes of an execution whose pod is deleted, can't be reached, or runs out of something.
 */
@KubernetesOnly
class PodFaultsIT {
  private static final int WORK_DIRECTORY_MIB = 64;
  private static final Duration LIMIT = Duration.ofMinutes(3);

  /** Logs, and in its first attempt works for ever. */
  private static final String FIRST_NEVER_ENDS =
      """
      import time

      def main(request):
          for number in range(500):
              print(f"line {number}")
          if request.attempt == 1:
              print("working")
              time.sleep(600)
          return request.attempt
      """;

  private static RoostProcess roost;
  private static PodWorkers pods;
  private static Relay relay;
  private static Client client;

  @BeforeAll
  static void start() {
    roost =
        RoostProcess.prepared(
            "ROOST_EXECUTORS_LEASE",
            "12s",
            "ROOST_EXECUTORS_LOST_AFTER",
            "3s",
            "ROOST_EXECUTORS_GRACE",
            "1s",
            "ROOST_LIMITS_WORK_DIRECTORY_MIB",
            Integer.toString(WORK_DIRECTORY_MIB));
    pods = (PodWorkers) roost.workers();
    relay = new Relay(roost.port());
    roost.set(
        "ROOST_KUBERNETES_EXECUTOR_URL", "http://" + TestCluster.get().host() + ":" + relay.port());
    roost.start();
    client = roost.client();
  }

  @AfterAll
  static void nothingIsLeft() {
    try (RoostProcess itself = roost;
        Relay way = relay) {
      pods.assertNothingIsLeft(client);
    }
  }

  @ParameterizedTest(name = "grace of {0} s")
  @ValueSource(ints = {0, 30})
  void aDeletedPodsExecutionIsLostKeepsItsLinesAndIsTriedAgain(int graceSeconds) {
    String agent = client.agent(FIRST_NEVER_ENDS, "max_attempts", 2, "retry_delay", 0.01);
    String job = client.submit(agent, null);
    client.logged(job, "working");
    String first = client.job(job).path("execution").path("id").asText();
    pods.deletePod(agent, graceSeconds);
    JsonNode ended = client.ended(job);
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
    assertEquals(2, ended.path("attempts").asInt());
    assertEquals(2, ended.path("execution").path("return_value").asInt());
    JsonNode lost = execution(first);
    assertEquals("lost", lost.path("state").asText(), lost::toPrettyString);
    assertEquals("executor_lost", lost.path("reason").asText());
    assertTrue(
        lost.path("message").asText().endsWith("The pod was deleted."),
        lost.path("message").asText());
    List<String> lines = client.messages(first);
    for (int number = 0; number < 500; number++) {
      assertEquals("line " + number, lines.get(number));
    }
    assertEquals("working", lines.get(500));
  }

  @Test
  void aPodDeletedBeforeMainCostsNoAttempt() {
    try (Gate gate = new Gate(1)) {
      String agent =
          client.agent(
              """
              import json, os, socket

              socket.create_connection(json.loads(os.environ["GATE"])).recv(1)

              def main(request):
                  return request.attempt
              """,
              "env_vars",
              "GATE=" + gate.address());
      String job = client.submit(agent, null);
      Eventually.until("the import has begun", () -> gate.arrivals() == 1);
      pods.deletePod(agent, 30);
      JsonNode ended = client.ended(job);
      assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
      assertEquals(1, ended.path("attempts").asInt());
      assertEquals(1, ended.path("execution").path("return_value").asInt());
    }
  }

  @Test
  void anExecutorThatCannotBeReachedIsEndedAndItsExecutionTriedAgain() {
    String agent = client.agent(FIRST_NEVER_ENDS, "max_attempts", 2, "retry_delay", 0.01);
    String job = client.submit(agent, null);
    client.logged(job, "working");
    String first = client.job(job).path("execution").path("id").asText();
    Worker executor = pods.executorOf(agent, "runner");
    relay.cut();
    try {
      Eventually.until("it is called lost", () -> state(first).equals("lost"));
      assertFalse(executor.isAlive(), "nothing runs any more of what is called lost");
    } finally {
      relay.heal();
    }
    JsonNode ended = client.ended(job);
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
    assertEquals(2, ended.path("execution").path("return_value").asInt());
    String message = execution(first).path("message").asText();
    assertTrue(message.contains("has not reported for 3 s"), message);
  }

  /** Its node does nothing it is told, so the script runs on, and the network comes back. */
  @Test
  @Tag("soak") // the kubelet is away meanwhile
  void aScriptThatIsCalledLostAndRunsOnWritesNothingAnyMore() {
    ClusterParts cluster = ClusterParts.get();
    try (Tally tally = new Tally();
        Gate gate = new Gate(1)) {
      JsonNode made = client.post("/v1/datastore", "{\"name\": \"fenced\"}").expect(201).json();
      String store = made.path("id").asText();
      String agent =
          client.agent(
              Tally.TELL
                  + """

              def main(request, store):
                  store["attempt"] = request.attempt
                  if request.attempt == 1:
                      print("working")
                      socket.create_connection(request.payload["gate"]).recv(1)
                      try:
                          store["attempt"] = "written by the lost one"
                          tell(request.payload["tally"], "written")
                      except Exception as error:
                          tell(request.payload["tally"], f"refused: {error}")
                  return request.attempt
              """,
              "max_attempts",
              2,
              "retry_delay",
              0.01,
              "store_ids",
              List.of(store));
      String payload = "{\"gate\": %s, \"tally\": %s}".formatted(gate.address(), tally.address());
      String job = client.submit(agent, payload);
      client.logged(job, "working");
      String first = client.job(job).path("execution").path("id").asText();
      try (ClusterParts.Stopped kubelet = cluster.stop(ClusterParts.KUBELET)) {
        relay.cut();
        try {
          Eventually.until("it is called lost", () -> state(first).equals("lost"));
          assertEquals("queued", client.job(job).path("state").asText());
        } finally {
          relay.heal();
        }
        gate.open();
        String told =
            Eventually.value("the lost script goes on", () -> tally.told().stream().findFirst());
        assertTrue(told.startsWith("refused: "), told);
      }
      JsonNode ended = client.ended(job, LIMIT);
      assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
      assertEquals(
          "2", client.get("/v1/datastore/" + store + "/entries/attempt").expect(200).text());
    }
  }

  /** What a script uses up is its own affair: the next execution finds the same executor. */
  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "bytearray(3_000_000_000) | out_of_memory | 128 MiB",
        "while True: data.append(bytearray(4_000_000)); time.sleep(0.01) | out_of_memory | 128 MiB",
        "family() | out_of_memory | 128 MiB",
        "fill() | out_of_disk | 64 MiB",
        "bombs() | too_many_processes | 256",
        "time.sleep(600) | deadline_exceeded | 5 s",
      })
  void whatAScriptUsesUpIsItsReasonAndTheExecutorContinues(
      String code, String reason, String message) {
    String script =
        """
        import os, time

        data = []

        def bombs():
            while True:
                if os.fork() == 0:
                    time.sleep(600)

        def family():
            for _ in range(3):
                os.fork()
            while True:
                data.append(bytearray(2_000_000))
                time.sleep(0.05)

        def fill():
            with open("large", "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
                    time.sleep(0.005)

        def main(request):
            if request.payload == "fine":
                return "fine"
            print("begins")
            %s
        """
            .formatted(code);
    int memory = reason.equals("too_many_processes") ? 4096 : 128;
    int timeout = reason.equals("deadline_exceeded") ? 5 : 60;
    String agent = client.agent(script, "timeout", timeout, "memory", memory);
    JsonNode ended = client.execute(agent, null);
    assertEquals(reason, ended.path("reason").asText(), ended::toPrettyString);
    assertTrue(ended.path("message").asText().contains(message), ended.path("message").asText());
    assertEquals("begins", client.messages(ended.path("execution").path("id").asText()).get(0));
    // Which isn't about its time-out.
    client.send("PATCH", "/v1/agents/" + agent, "{\"timeout\": 60}").expect(200);
    JsonNode next = client.execute(agent, "\"fine\"");
    assertEquals("succeeded", next.path("state").asText(), next::toPrettyString);
    assertFalse(next.path("execution").path("cold_start").asBoolean(), "the executor has gone on");
  }

  private static JsonNode execution(String id) {
    return client.get("/v1/executions/" + id).expect(200).json();
  }

  private static String state(String executionId) {
    return Optional.of(execution(executionId).path("state").asText()).orElse("");
  }
}
