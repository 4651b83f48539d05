package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The tag of the base image names another image after a while. Here it is that of another Python
 * version, so that scripts can tell. {@code -De2e.rollout.agents} says for how many agents.
 */
@KubernetesOnly
class MovedBaseIT {
  private static final int AGENTS = Integer.getInteger("e2e.rollout.agents", 4);
  private static final Duration LIMIT = Eventually.LIMIT.plusSeconds(10L * AGENTS);

  private static final String SCRIPT =
      """
      import sys

      def main():
          return "%d.%d" % sys.version_info[:2]
      """;

  private static MovingTag tag;
  private static RoostProcess roost;

  @BeforeAll
  static void start() {
    if (!MovingTag.isPossible()) {
      String why = "The base images are not in a registry whose tags can be moved.";
      LeftOut.note("the rollout of a moved tag. " + why);
      Assumptions.abort(why);
    }
    tag = new MovingTag(TestCluster.get().baseImage());
    tag.moveTo("3.11");
    roost = RoostProcess.prepared();
    roost.set("ROOST_KUBERNETES_BASE_IMAGE", tag.image());
    roost.set("ROOST_KUBERNETES_PYTHON_VERSIONS", "3.11");
    roost.set("ROOST_KUBERNETES_DEFAULT_PYTHON_VERSION", "3.11");
    roost.set("ROOST_KUBERNETES_BASE_IMAGE_CHECK", "5s");
    roost.set("ROOST_ROLLOUTS_MIN_AGE", "0s");
    roost.start();
  }

  @AfterAll
  static void end() {
    if (roost != null) {
      roost.close();
    }
  }

  @Test
  void theNewBaseReachesAgentsByARolloutThatCanBeUndone() {
    Client client = roost.client();
    List<String> agents = new ArrayList<>();
    for (int i = 0; i < AGENTS; i++) {
      String requirements = i % 2 == 0 ? "" : "six==1.17.0";
      agents.add(client.agent(SCRIPT, "requirements", requirements, "keep_warm", 600));
    }
    agents.forEach(agent -> assertEquals("3.11", version(agent)));
    String before = base(agents.get(0));
    assertTrue(before.startsWith(tag.image() + "@sha256:"), before);

    tag.moveTo("3.13");
    JsonNode rollout =
        Eventually.value(
            "a rollout has brought it to all",
            LIMIT,
            () ->
                rollouts().stream()
                    .filter(one -> one.at("/agents/updated").asInt() == AGENTS)
                    .findFirst());
    assertTrue(rollout.path("automatic").asBoolean());
    // Also those that have a warm executor of before.
    agents.forEach(agent -> assertEquals("3.13", version(agent)));
    agents.forEach(agent -> assertTrue(agent(agent).path("outdated").isNull()));
    assertNotEquals(before, base(agents.get(0)));
    assertEquals(1, agent(agents.get(0)).path("revision").asInt());

    String path = "/v1/rollouts/" + rollout.path("id").asText();
    Eventually.until(
        "it is completed", () -> state(path).equals("completed") || state(path).equals("undone"));
    client.post(path + "/undo", null).expect(202);
    Eventually.until(
        "all are undone",
        LIMIT,
        () -> client.get(path).json().at("/agents/undone").asInt() == AGENTS);
    agents.forEach(agent -> assertEquals("3.11", version(agent)));
    JsonNode outdated = agent(agents.get(0)).path("outdated");
    assertEquals("base", outdated.at("/reasons/0").asText(), outdated::toString);
    assertEquals(before, outdated.path("base").asText());
    assertFalse(rollouts().stream().anyMatch(one -> one.path("state").asText().equals("running")));

    JsonNode one = client.post("/v1/agents/" + agents.get(1) + "/rebuild", null).expect(202).json();
    Eventually.until(
        "one is rebuilt",
        () ->
            client
                .get("/v1/rollouts/" + one.path("id").asText())
                .json()
                .path("state")
                .asText()
                .equals("completed"));
    assertEquals("3.13", version(agents.get(1)));
    assertEquals("3.11", version(agents.get(0)));
  }

  private static String state(String path) {
    return roost.client().get(path).expect(200).json().path("state").asText();
  }

  private static List<JsonNode> rollouts() {
    List<JsonNode> all = new ArrayList<>();
    roost.client().get("/v1/rollouts").expect(200).json().path("data").forEach(all::add);
    return all;
  }

  private static JsonNode agent(String id) {
    return roost.client().get("/v1/agents/" + id).expect(200).json();
  }

  private static String version(String agent) {
    JsonNode execution = roost.client().execute(agent, null).path("execution");
    return execution.path("return_value").asText();
  }

  /** What the agent's Build was made on. */
  private static String base(String agent) {
    JsonNode build =
        roost.client().get("/v1/builds?agent_id=" + agent).expect(200).json().at("/data/0");
    return build.path("base").asText();
  }
}
