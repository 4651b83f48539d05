package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An execution that is lost with its pod says why Kubernetes ended that pod. */
@KubernetesOnly
class LostCausesIT {
  /** The kubelet measures volumes once a minute. */
  private static final Duration MEASURED = Duration.ofMinutes(4);

  private static final String SLEEPS =
      """
      import time

      def main(request):
          print("working")
          time.sleep(600)
      """;

  private static RoostProcess roost;
  private static PodWorkers pods;
  private static Client client;

  @BeforeAll
  static void start() {
    roost = RoostProcess.prepared("ROOST_LIMITS_WORK_DIRECTORY_MIB", "64");
    pods = (PodWorkers) roost.workers();
    roost.start();
    client = roost.client();
  }

  @AfterAll
  static void nothingIsLeft() {
    try (RoostProcess itself = roost) {
      pods.assertNothingIsLeft(client);
    }
  }

  private static String started(String agent) {
    String job = client.submit(agent, null);
    client.logged(job, "working");
    return job;
  }

  @Test
  void anEvictedPodsExecutionSaysWhoEvictedIt() {
    String agent = client.agent(SLEEPS);
    String job = started(agent);
    pods.evictPod(agent);
    JsonNode ended = client.ended(job);
    assertEquals("executor_lost", ended.path("reason").asText(), ended::toPrettyString);
    assertEquals(
        "The executor ended before the script did."
            + " The cluster ended the pod: EvictionByEvictionAPI: Eviction API: evicting",
        ended.path("message").asText());
    assertEquals(ended.path("message").asText(), ended.path("execution").path("message").asText());
  }

  @Test
  void aDeletedPodsExecutionSaysSo() {
    String agent = client.agent(SLEEPS);
    String job = started(agent);
    pods.deletePod(agent, 30);
    JsonNode ended = client.ended(job);
    assertEquals(
        "The executor ended before the script did. The pod was deleted.",
        ended.path("message").asText(),
        ended::toPrettyString);
  }

  /** Where the runner, which has the script's user, can't look. */
  @Test
  void anExecutionWhosePodHasFilledItsVolumeIsOutOfDisk() {
    String agent =
        client.agent(
            """
            import os, time

            def main(request):
                os.mkdir("hidden")
                with open("hidden/large", "wb") as file:
                    os.chmod("hidden", 0)
                    for _ in range(200):
                        file.write(bytes(1 << 20))
                print("working")
                time.sleep(600)
            """);
    JsonNode ended = client.ended(started(agent), MEASURED);
    assertEquals("out_of_disk", ended.path("reason").asText(), ended::toPrettyString);
    assertEquals("failed", ended.path("execution").path("state").asText());
    String message = ended.path("message").asText();
    assertTrue(message.contains("Usage of EmptyDir volume \"work\" exceeds the limit"), message);
  }
}
