package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What ends a build that is at work: its package index never answers. */
@EveryRuntime
class InterruptedBuildIT {
  private static final Gate INDEX = new Gate();

  private static RoostProcess roost;
  private static Client client;
  private static Workers workers;

  @BeforeAll
  static void start() {
    JsonNode address = HttpAnswer.parse(INDEX.address());
    roost =
        RoostProcess.started(
            "ROOST_BUILDS_INDEX_URL",
            "http://%s:%s/simple/".formatted(address.path(0).asText(), address.path(1).asText()));
    client = roost.client();
    workers = roost.workers();
  }

  @AfterAll
  static void end() {
    try (Gate index = INDEX) {
      roost.close();
    }
  }

  @Test
  void aKilledBuilderEndsTheJobAndLeavesNothingThatLooksFinished() {
    JsonNode agent = agent("def main(): pass");
    String id = agent.path("latest_builder_job_id").asText();
    Worker builder = workers.builderOf(id);
    List<String> before = workers.builds();
    builder.kill();
    JsonNode job = client.built(id);
    assertEquals("failed", job.path("state").asText());
    assertEquals("lost", job.path("reason").asText());
    assertFalse(job.path("message").asText().isBlank());
    assertEquals(before, workers.builds());
    Eventually.until("nothing works on it", () -> !workers.isBuilding(id));
  }

  @Test
  void aChangeDuringABuildSupersedesItAndOldJobsFail() {
    JsonNode agent = agent("def main(): return 1");
    String id = agent.path("id").asText();
    String first = agent.path("latest_builder_job_id").asText();
    workers.builderOf(first);
    client
        .send("PATCH", "/v1/agents/" + id, HttpAnswer.write(Map.of("requirements", "")))
        .expect(200);
    JsonNode job = client.built(first);
    assertEquals("cancelled", job.path("state").asText());
    assertEquals("superseded", job.path("reason").asText());
    assertEquals("succeeded", client.execute(id, null).path("state").asText());
    Eventually.until("nothing works on it", () -> !workers.isBuilding(first));
  }

  @Test
  void deletingTheAgentCancelsItsBuildAndItsJobs() {
    JsonNode agent = agent("def main(): return 1");
    String id = agent.path("id").asText();
    String builderJob = agent.path("latest_builder_job_id").asText();
    String jobId = client.submit(id, null);
    workers.builderOf(builderJob);
    assertEquals("build", client.job(jobId).path("waiting_on").asText());
    client.send("DELETE", "/v1/agents/" + id, null).expect(204);
    JsonNode job = client.built(builderJob);
    assertEquals("cancelled", job.path("state").asText());
    assertEquals("agent_deleted", job.path("reason").asText());
    assertEquals("cancelled", client.ended(jobId).path("state").asText());
    Eventually.until("nothing works on it", () -> !workers.isBuilding(builderJob));
  }

  /** One whose build waits for the index. */
  private static JsonNode agent(String script) {
    int before = INDEX.arrivals();
    JsonNode agent = client.createAgent(script, "requirements", "six==1.17.0");
    Eventually.until("the build asks the index", () -> INDEX.arrivals() > before);
    return agent;
  }
}
