package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Executors that are started before an agent needs them. */
@EveryRuntime
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PoolIT {
  private static final int ROOM = 4;
  private static final int BUDGET = 2;
  private static final String ECHO = "def main(request):\n    return request.payload";
  private static final String WAIT =
      """
      import socket

      def main(request):
          socket.create_connection(request.payload).recv(1)
          return 1
      """;

  private static RoostProcess roost;
  private static Client client;

  @BeforeAll
  static void start() {
    roost =
        RoostProcess.started(
            "ROOST_EXECUTORS_POOL",
            "" + BUDGET,
            "ROOST_LOCAL_MAX_EXECUTORS",
            "" + ROOM,
            "ROOST_KUBERNETES_MAX_EXECUTORS",
            "" + ROOM,
            // A digest that becomes known in the middle of the test would make another Build.
            "ROOST_KUBERNETES_BASE_IMAGE_CHECK",
            "0s");
    client = roost.client();
  }

  @AfterAll
  static void stop() {
    try (RoostProcess itself = roost) {
      if (roost.workers() instanceof PodWorkers pods) {
        pods.assertNothingIsLeft(client);
      }
    }
  }

  private static JsonNode executors() {
    return client.get("/v1/statistics").expect(200).json().path("executors");
  }

  /** An agent whose cold start fills the pool. */
  private static void fillPool() {
    execute(client.agent(ECHO, "keep_warm", 0));
    Eventually.until("there is a pool", () -> executors().path("pooled").asInt() > 0);
  }

  private static JsonNode execute(String agent) {
    JsonNode job = client.execute(agent, "1");
    assertEquals("succeeded", job.path("state").asText(), job::toPrettyString);
    return job.path("execution");
  }

  @Test
  void anAgentGetsAnExecutorOfThePoolAndKeepsIt() {
    fillPool();
    String agent = client.agent(ECHO, "keep_warm", 600, "max_concurrency", 1);
    assertTrue(execute(agent).path("cold_start").asBoolean());
    roost.workers().awaitPooledExecutorOf(agent);
    assertFalse(execute(agent).path("cold_start").asBoolean());
    Eventually.until("it is replaced", () -> executors().path("pooled").asInt() > 0);

    client.change(agent, "keep_warm", 0);
  }

  /** The last one, since it adds a pool that shares the budget. */
  @Test
  @Order(Integer.MAX_VALUE)
  void anAgentWithOtherSettingsGetsItsOwn() {
    fillPool();
    String agent = client.agent(ECHO, "memory", 300, "keep_warm", 0);
    int before = executors().path("pooled").asInt();
    execute(agent);
    assertTrue(before > 0);
    Eventually.until("its pool is kept as well", () -> executors().path("pooled").asInt() > 1);
  }

  @Test
  void executorsOfPoolsGiveWay() {
    fillPool();
    try (Gate gate = new Gate()) {
      List<String> jobs = new ArrayList<>();
      for (int i = 0; i < ROOM; i++) {
        jobs.add(client.submit(client.agent(WAIT, "keep_warm", 0), gate.address()));
      }
      Eventually.until("all run", () -> gate.arrivals() == ROOM);
      assertEquals(0, executors().path("pooled").asInt());
      gate.open();
      jobs.forEach(job -> assertEquals("succeeded", client.ended(job).path("state").asText()));
    }
    Eventually.until("the pool is back", () -> executors().path("pooled").asInt() > 0);
  }

  @Test
  void thoseThatDieAreReplacedAndNoExecutionIsLost() {
    fillPool();
    Eventually.until("one dies", () -> roost.workers().killPooled() > 0);
    for (int i = 0; i < 3; i++) {
      // The processes of a pod live on for a moment after it is gone, long enough to begin a job.
      execute(client.agent(ECHO, "keep_warm", 0, "max_attempts", 2));
    }
    Eventually.until("there is a pool", () -> executors().path("pooled").asInt() > 0);
  }

  @Test
  void aRestartedControlPlaneUsesThoseThatAreThere() {
    fillPool();
    roost.kill9();
    roost.start();
    client = roost.client();
    Eventually.until("there is a pool", () -> executors().path("pooled").asInt() > 0);
    // Those that have not found the new control plane yet aren't given to an agent.
    Eventually.until(
        "an agent gets one of them",
        () -> {
          String agent = client.agent(ECHO, "keep_warm", 600);
          execute(agent);
          roost.workers().executorOf(agent, "runner");
          boolean found = roost.workers().hasPooledExecutor(agent);
          client.change(agent, "keep_warm", 0);
          return found;
        });
  }
}
