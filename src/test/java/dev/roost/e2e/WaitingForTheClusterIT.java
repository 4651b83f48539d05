package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What keeps a pod from starting is said at once, and believed late. */
@KubernetesOnly
class WaitingForTheClusterIT {
  /** Long before what is waited for is given up. */
  private static final Duration SOON = Duration.ofSeconds(60);

  private static final String PENDING_TIMEOUT = "ROOST_EXECUTORS_PENDING_TIMEOUT";
  private static final String LATE = "5m";
  private static final Duration START_TIMEOUT = Duration.ofSeconds(10);
  private static final int MEBIBYTES_OF_NO_NODE = 1 << 20;
  private static final String ECHO = "def main(request): return request.payload";

  private static RoostProcess roost;
  private static PodWorkers pods;
  private static Client client;

  @BeforeAll
  static void start() {
    roost =
        RoostProcess.started(
            "ROOST_EXECUTORS_START_TIMEOUT",
            START_TIMEOUT.toSeconds() + "s",
            PENDING_TIMEOUT,
            LATE,
            "ROOST_KUBERNETES_MEMORY_REQUEST_RATIO",
            "1",
            "ROOST_KUBERNETES_PYTHON_VERSIONS",
            "3.11,3.13,3.99",
            "ROOST_LIMITS_AGENT_MEMORY_MIB",
            Integer.toString(MEBIBYTES_OF_NO_NODE));
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
  void anImageThatTheRegistryHasLostIsBuiltAgain() {
    JsonNode agent =
        client.createAgent(
            "import six\n\ndef main(): return six.__version__", "requirements", "six==1.17.0");
    JsonNode built = client.built(agent.path("latest_builder_job_id").asText());
    assertEquals("succeeded", built.path("state").asText(), built::toPrettyString);
    pods.removeBuilds();
    assertEquals(0, pods.builds().size());

    String job = client.submit(agent.path("id").asText(), null);
    JsonNode ended = client.ended(job, Duration.ofMinutes(3));
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
    assertEquals("1.17.0", ended.path("execution").path("return_value").asText());
    assertEquals(1, pods.builds().size());
  }

  @Test
  void aBaseImageThatDoesNotExistFailsTheBuildAndSaysWhich() {
    JsonNode agent = client.createAgent(ECHO, "python_version", "3.99");
    JsonNode built = client.built(agent.path("latest_builder_job_id").asText());
    assertEquals("failed", built.path("state").asText(), built::toPrettyString);
    assertEquals("python_version_unavailable", built.path("reason").asText());
    assertTrue(built.path("message").asText().contains("3.99"), built.path("message").asText());
    JsonNode ended = client.execute(agent.path("id").asText(), null);
    assertEquals("build_failed", ended.path("reason").asText(), ended::toPrettyString);
  }

  @Test
  void moreMemoryThanAnyNodeHasIsReportedAndThenFailsTheJob() {
    String agent = built("memory", MEBIBYTES_OF_NO_NODE);
    String job = client.submit(agent, "1");
    awaitMessage(job, "executor", "No node fits the pod, even if all others ended", "memory");
    restart("1s"); // So it has waited too long now.
    try {
      JsonNode ended = client.ended(job);
      assertEquals("failed", ended.path("state").asText(), ended::toPrettyString);
      assertEquals("unschedulable", ended.path("reason").asText());
      assertTrue(ended.path("message").asText().contains("nsufficient memory"));
    } finally {
      restart(LATE);
    }
  }

  private static void restart(String pendingTimeout) {
    roost.terminate();
    roost.set(PENDING_TIMEOUT, pendingTimeout);
    roost.start();
  }

  @ParameterizedTest
  @CsvSource({"pods", "count/jobs.batch"})
  void anExceededQuotaIsReportedAndTheJobRunsWhenItIsLifted(String what) {
    String agent = built();
    KubernetesClient cluster = pods.client();
    ResourceQuota quota =
        cluster
            .resource(
                new ResourceQuotaBuilder()
                    .withNewMetadata()
                    .withName("nothing")
                    .withNamespace(pods.namespace())
                    .endMetadata()
                    .withNewSpec()
                    .addToHard(what, new Quantity("0"))
                    .endSpec()
                    .build())
            .create();
    String job;
    try {
      Eventually.until(
          "the quota is in force",
          () ->
              cluster.resource(quota).get().getStatus().getHard() != null
                  && !cluster.resource(quota).get().getStatus().getHard().isEmpty());
      job = client.submit(agent, "7");
      Instant late = Instant.now().plus(START_TIMEOUT).plusSeconds(1);
      awaitMessage(job, "capacity", "exceeded quota", "nothing");
      Eventually.until(
          "it has waited longer than a start may take", () -> Instant.now().isAfter(late));
      assertEquals("queued", client.job(job).path("state").asText());
    } finally {
      cluster.resource(quota).delete();
    }
    JsonNode ended = client.ended(job);
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
  }

  private static String built(Object... settings) {
    JsonNode agent = client.createAgent(ECHO, settings);
    client.built(agent.path("latest_builder_job_id").asText());
    return agent.path("id").asText();
  }

  /** Soon, the waiting order says what its executor waits for. */
  private static void awaitMessage(String job, String waitingOn, String... parts) {
    Eventually.value(
        "the message of the waiting order: " + String.join(", ", parts),
        SOON,
        () -> {
          JsonNode seen = client.job(job);
          assertEquals("queued", seen.path("state").asText(), seen::toPrettyString);
          String message = seen.path("message").asText();
          for (String part : parts) {
            if (!message.contains(part)) {
              return Optional.empty();
            }
          }
          assertEquals(waitingOn, seen.path("waiting_on").asText());
          return Optional.of(message);
        });
  }
}
