package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Where the cluster has no capacity, idle executors make room, and the rest waits. */
@KubernetesOnly
class CapacityIT {
  private static final Duration PENDING_TIMEOUT = Duration.ofSeconds(20);
  private static final String ECHO = "def main(request): return request.payload";
  private static final String SLEEP =
      "import time\n\ndef main(request):\n    time.sleep(request.payload)\n    return 1";

  private static RoostProcess roost;
  private static PodWorkers pods;
  private static Client client;

  @BeforeAll
  static void start() {
    roost =
        RoostProcess.started(
            "ROOST_EXECUTORS_PENDING_TIMEOUT",
            PENDING_TIMEOUT.toSeconds() + "s",
            "ROOST_KUBERNETES_MEMORY_REQUEST_RATIO",
            "1",
            "ROOST_KUBERNETES_BUILDER_MEMORY_MIB",
            "512",
            "ROOST_LIMITS_AGENT_MEMORY_MIB",
            Integer.toString(1 << 20));
    pods = (PodWorkers) roost.workers();
    client = roost.client();
  }

  @AfterAll
  static void nothingIsLeft() {
    try (RoostProcess itself = roost) {
      pods.assertNothingIsLeft(client);
    }
  }

  @Test
  void idleExecutorsLeaveForTheBuildAndTheJobsOfAnother() {
    String greedy = built(SLEEP, "keep_warm", 600, "max_concurrency", 3);
    ResourceQuota quota = quota("pods", "3");
    try {
      List<String> jobs = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        jobs.add(client.submit(greedy, "600"));
      }
      for (String job : jobs) {
        Eventually.until(
            "it works", () -> client.job(job).path("state").asText().equals("running"));
      }
      for (String job : jobs) {
        client.post("/v1/executor-jobs/" + job + "/cancel", null);
        client.ended(job);
      }
      assertEquals(3, pods.executors().size(), "all of the quota is in use, by idle ones");

      JsonNode other = client.createAgent(ECHO, "requirements", "six==1.17.0");
      JsonNode build = client.built(other.path("latest_builder_job_id").asText());
      assertEquals("succeeded", build.path("state").asText(), build::toPrettyString);
      assertSucceeded(client.execute(other.path("id").asText(), "1"));
      assertTrue(idle(greedy) > 0, "no more left than had to");
    } finally {
      pods.client().resource(quota).delete();
    }
    client.send("DELETE", "/v1/agents/" + greedy, null).expect(204);
  }

  @Test
  void aJobWaitsForExecutorsThatWorkAndSaysSo() {
    String busy = built(SLEEP, "keep_warm", 600);
    String other = built(ECHO);
    ResourceQuota quota = quota("pods", "1");
    try {
      long seconds = PENDING_TIMEOUT.multipliedBy(2).toSeconds();
      String first = client.submit(busy, Long.toString(seconds));
      Eventually.until(
          "it works", () -> client.job(first).path("state").asText().equals("running"));
      String second = client.submit(other, "2");
      awaitCapacity(second, "exceeded quota");
      Instant late = Instant.now().plus(PENDING_TIMEOUT).plusSeconds(2);
      Eventually.until("it has waited longer than for an image", () -> Instant.now().isAfter(late));
      assertEquals("queued", client.job(second).path("state").asText());
      assertSucceeded(client.ended(first));
      assertSucceeded(client.ended(second));
    } finally {
      pods.client().resource(quota).delete();
    }
  }

  /** The second agent fits the node, but not beside the first. */
  @Test
  void anIdleExecutorLeavesWhenNoNodeHasCapacityForAnother() {
    int most = allocatableMib() * 11 / 20;
    String idle = built(ECHO, "keep_warm", 600, "memory", most);
    String other = built(ECHO, "memory", most);
    assertSucceeded(client.execute(idle, "1"));
    Eventually.until("its pod is seen to run", () -> idle(idle) == 1);
    assertSucceeded(client.execute(other, "2"));
    assertEquals(0, idle(idle));
  }

  @Test
  void whatTheQuotaCanNeverHoldFailsAndSaysWhy() {
    String agent = built(ECHO, "memory", 2048);
    ResourceQuota quota = quota("limits.memory", "1Gi");
    try {
      JsonNode ended = client.ended(client.submit(agent, "1"));
      assertEquals("failed", ended.path("state").asText(), ended::toPrettyString);
      String message = ended.path("message").asText();
      assertTrue(message.contains("a single pod exceeds the quota"), message);
    } finally {
      pods.client().resource(quota).delete();
    }
  }

  private static void awaitCapacity(String job, String part) {
    Eventually.value(
        "the job says that it waits for capacity",
        () -> {
          JsonNode seen = client.job(job);
          assertEquals("queued", seen.path("state").asText(), seen::toPrettyString);
          return seen.path("waiting_on").asText().equals("capacity")
                  && seen.path("message").asText().contains(part)
              ? Optional.of(seen)
              : Optional.empty();
        });
  }

  private static void assertSucceeded(JsonNode job) {
    assertEquals("succeeded", job.path("state").asText(), job::toPrettyString);
  }

  /** The executors of an agent that have a pod. */
  private static long idle(String agent) {
    return pods
        .client()
        .pods()
        .inNamespace(pods.namespace())
        .withLabel("roost/agent-id", agent)
        .list()
        .getItems()
        .stream()
        .filter(pod -> "Running".equals(pod.getStatus().getPhase()))
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .count();
  }

  private static int allocatableMib() {
    return pods.client().nodes().list().getItems().stream()
        .map(node -> node.getStatus().getAllocatable().get("memory").getNumericalAmount())
        .max(BigDecimal::compareTo)
        .orElseThrow()
        .divide(BigDecimal.valueOf(1 << 20))
        .intValue();
  }

  private static String built(String script, Object... settings) {
    JsonNode agent = client.createAgent(script, settings);
    JsonNode build = client.built(agent.path("latest_builder_job_id").asText());
    assertEquals("succeeded", build.path("state").asText(), build::toPrettyString);
    return agent.path("id").asText();
  }

  private static ResourceQuota quota(String what, String limit) {
    KubernetesClient cluster = pods.client();
    ResourceQuota quota =
        cluster
            .resource(
                new ResourceQuotaBuilder()
                    .withNewMetadata()
                    .withName("tight")
                    .withNamespace(pods.namespace())
                    .endMetadata()
                    .withNewSpec()
                    .addToHard(what, new Quantity(limit))
                    .endSpec()
                    .build())
            .create();
    Eventually.until(
        "the quota is in force",
        () -> {
          ResourceQuota seen = cluster.resource(quota).get();
          return seen.getStatus() != null
              && seen.getStatus().getUsed() != null
              && !seen.getStatus().getUsed().isEmpty();
        });
    return quota;
  }
}
