package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * In the middle of a rollout that changes the base image: the leader has the old setting, the other
 * replica the new one. Here the new base of one Python version is that of another, so that scripts
 * can tell.
 */
@KubernetesOnly
class BaseRolloutIT {
  private static final String SCRIPT =
      """
      import sys

      def main():
          return "%d.%d" % sys.version_info[:2]
      """;

  private static ReplicatedRoost roost;

  @BeforeAll
  static void start() {
    // A digest that becomes known in the middle of the test would change the image key.
    roost = new ReplicatedRoost("ROOST_KUBERNETES_BASE_IMAGE_CHECK", "0s");
    roost
        .replica(1)
        .set(
            "ROOST_KUBERNETES_BASE_IMAGE",
            TestCluster.get().baseImage().replace("{version}", "3.13"));
    roost.start();
    assertEquals(0, roost.leader().orElseThrow());
  }

  @AfterAll
  static void nothingIsLeft() {
    try (ReplicatedRoost itself = roost) {
      roost.pods().assertNothingIsLeft(roost.client(0));
    }
  }

  @Test
  void aBuildHasTheBaseOfTheReplicaThatAcceptedTheAgent() {
    String before = made(0, "3.11");
    String after = made(1, "3.13");
    assertNotEquals(before, after);
    // Those that come later share them.
    assertEquals(after, made(1, "3.13"));
    assertEquals(before, made(0, "3.11"));
  }

  /** Answers the image key of the agent's Build, which that replica has accepted. */
  private static String made(int replica, String expectedVersion) {
    Client client = roost.client(replica);
    String agent = client.agent(SCRIPT, "python_version", "3.11");
    JsonNode execution = client.execute(agent, "null").path("execution");
    assertEquals(
        expectedVersion, execution.path("return_value").asText(), execution::toPrettyString);
    return client.get("/v1/builds?agent_id=" + agent).json().at("/data/0/image_key").asText();
  }
}
