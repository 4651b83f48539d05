package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is killed in the middle of the work, and that nothing acknowledged is lost by it. */
@EveryRuntime
class FaultsIT {
  private static final int LINES = 200;

  /** Prometheus' default. */
  private static final Duration SCRAPE_TIMEOUT = Duration.ofSeconds(10);

  private static int metricsPort;
  private static RoostProcess roost;
  private static Client client;

  private final Gate last = new Gate();

  @BeforeAll
  static void start() {
    metricsPort = Ports.free();
    roost =
        RoostProcess.started(
            "ROOST_LOCAL_MAX_EXECUTORS", "60", "ROOST_METRICS_PORT", Integer.toString(metricsPort));
    client = roost.client();
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  @AfterEach
  void close() {
    last.close();
  }

  @Test
  void aKilledControlPlaneLosesNoLogLineAndNoValue(Gate gate) {
    List<String> jobs = underWay("control", gate);
    roost.kill9();
    roost.start();
    last.open();
    for (String job : jobs) {
      JsonNode ended = client.ended(job);
      Numbered.assertComplete(client, ended);
      assertEquals(1, ended.path("attempts").asInt());
    }
  }

  @Test
  void aKilledDatabaseIsBackSoonAndNothingIsLost(Gate gate) {
    List<String> jobs = new ArrayList<>(underWay("database", gate));
    String agent = client.agent(Numbered.SCRIPT);
    AtomicBoolean over = new AtomicBoolean();
    List<String> refusals = new ArrayList<>();
    List<String> later = new ArrayList<>();
    CompletableFuture<Void> requests =
        CompletableFuture.runAsync(
            () -> {
              while (!over.get()) {
                String payload = Numbered.payload("later" + later.size(), 3, 0, null);
                HttpAnswer answer =
                    client.post(
                        "/v1/agents/" + agent + "/execute", "{\"payload\": " + payload + "}");
                if (answer.status() == 201) {
                  later.add(answer.json().path("id").asText());
                } else if (answer.status() != 503 || answer.header("Retry-After") == null) {
                  refusals.add(answer.status() + " " + answer.text());
                }
                if (client.get("/q/health/live").status() != 200) {
                  refusals.add("not alive");
                }
              }
            });
    long postmaster = roost.postmaster().pid();
    Machine.signal(postmaster, "KILL");
    Eventually.until("the kill has taken effect", () -> !Machine.isAlive(postmaster));
    Eventually.until("the database is back", () -> client.get("/v1/agents").status() == 200);
    last.open();
    over.set(true);
    requests.join();
    assertEquals(List.of(), refusals);
    jobs.addAll(later);
    for (String job : jobs) {
      Numbered.assertComplete(client, client.ended(job));
    }
  }

  @Test
  @LocalOnly("it stops processes of the embedded database")
  void metricsSayThatADatabaseDoesNotRespond() {
    Client metrics = new Client("http://127.0.0.1:" + metricsPort, null);
    Machine.Running postmaster = roost.postmaster();
    List<Long> database = new ArrayList<>(List.of(postmaster.pid()));
    database.addAll(Machine.children(postmaster.pid()));
    Eventually.until("it responds", () -> isReachable(metrics, "1.0"));
    database.forEach(pid -> Machine.signal(pid, "STOP"));
    try {
      Eventually.until(
          "it has stopped",
          () -> {
            long begun = System.nanoTime();
            boolean stopped = isReachable(metrics, "0.0");
            Duration taken = Duration.ofNanos(System.nanoTime() - begun);
            assertTrue(taken.compareTo(SCRAPE_TIMEOUT) < 0, taken::toString);
            return stopped;
          });
    } finally {
      database.forEach(pid -> Machine.signal(pid, "CONT"));
    }
    Eventually.until("it responds again", () -> isReachable(metrics, "1.0"));
  }

  private static boolean isReachable(Client metrics, String value) {
    String text = metrics.get("/metrics").expect(200).text();
    return text.contains("\nroost_database_reachable " + value + "\n");
  }

  @Test
  @LocalOnly("it is about a file of the embedded database")
  void aDatabaseKilledWhileItCreatedItsLockFileStartsAgain() throws IOException {
    String agent = client.agent("def main(request):\n    return 1");
    roost.kill9();
    Machine.Running postmaster = roost.postmaster();
    postmaster.signal("KILL");
    Eventually.until("it has ended", () -> !postmaster.isAlive());
    Files.write(roost.data().resolve("database").resolve("postmaster.pid"), new byte[0]);
    roost.start();
    assertEquals("succeeded", client.execute(agent, null).path("state").asText());
  }

  @ParameterizedTest
  @ValueSource(strings = {"runner", "sidecar"})
  void aKilledExecutorLosesTheExecutionWhenMainMayNotBeCalledTwice(String kind) {
    String agent = client.agent(working(), "max_attempts", 1);
    String job = client.submit(agent, "\"first\"");
    client.logged(job, "working");
    executorOf(agent, kind).kill();
    JsonNode ended = client.ended(job);
    assertEquals("failed", ended.path("state").asText());
    assertEquals("executor_lost", ended.path("reason").asText());
    assertEquals("lost", ended.path("execution").path("state").asText());
    assertEquals(1, executions(job));
    assertEquals("succeeded", client.execute(agent, "\"again\"").path("state").asText());
  }

  @ParameterizedTest
  @ValueSource(strings = {"runner", "sidecar"})
  void aKilledExecutorsExecutionIsTriedAgainWhenTheAgentAllowsIt(String kind) {
    String agent = client.agent(working(), "max_attempts", 2, "retry_delay", 0.01);
    String job = client.submit(agent, "\"first\"");
    client.logged(job, "working");
    executorOf(agent, kind).kill();
    JsonNode ended = client.ended(job);
    assertEquals("succeeded", ended.path("state").asText());
    assertEquals(2, ended.path("attempts").asInt());
    assertEquals(2, executions(job));
    assertEquals(2, ended.path("execution").path("return_value").asInt());
  }

  @ParameterizedTest
  @ValueSource(strings = {"runner", "sidecar"})
  void anExecutorKilledBeforeMainUsesUpNoAttempt(String kind) {
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
      executorOf(agent, kind).kill();
      JsonNode ended = client.ended(job);
      assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
      assertEquals(1, ended.path("attempts").asInt());
      assertEquals(1, ended.path("execution").path("return_value").asInt());
      assertEquals(2, executions(job));
    }
  }

  /** A part of the agent's executor; on Kubernetes one part stands for both, which go together. */
  private static Worker executorOf(String agent, String kind) {
    assumeFalse(
        TestCluster.isChosen() && kind.equals("sidecar"),
        "pods are killed as a whole: with the runner, the sidecar was killed too");
    return roost.workers().executorOf(agent, kind);
  }

  /** Works for ever in its first attempt at the payload "first". */
  private static String working() {
    return """
        import time

        def main(request):
            if request.payload == "first" and request.attempt == 1:
                print("working")
                time.sleep(600)
            return request.attempt
        """;
  }

  private static int executions(String job) {
    return client.get("/v1/executions?executor_job_id=" + job).json().path("data").size();
  }

  /**
   * Executions that all run, and of which some have logged a part of their lines. One goes on only
   * when the last gate opens, however fast the others are.
   */
  private List<String> underWay(String name, Gate gate) {
    int many = roost.workers().many();
    String agent = client.agent(Numbered.SCRIPT, "max_concurrency", many);
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      String address = (i == 0 ? last : gate).address();
      jobs.add(client.submit(agent, Numbered.payload(name + i, LINES, 0.04, address)));
    }
    String running = "/v1/executor-jobs?limit=200&state=running&agent_id=" + agent;
    Eventually.until("all run", () -> client.get(running).json().path("data").size() == many);
    gate.open();
    Eventually.until(
        "one is in its middle",
        () -> client.job(jobs.get(many / 2)).path("execution").path("log_entries").asInt() > 20);
    assertTrue(client.get(running).json().path("data").size() > 0);
    return jobs;
  }
}
