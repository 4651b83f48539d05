package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Builds that nothing uses any more are removed, and made again for whoever needs them after all.
 */
@EveryRuntime
class UnusedBuildIT {
  private static final String VERSION =
      "import importlib.metadata\n\ndef main():\n    return importlib.metadata.version('%s')";

  private static RoostProcess roost;
  private static final Gate GATE = new Gate();

  @BeforeAll
  static void start() {
    // The digest of the base image, once it is looked up, would make another Build of the same.
    roost = RoostProcess.started("ROOST_KUBERNETES_BASE_IMAGE_CHECK", "0s");
  }

  @AfterAll
  static void end() throws Exception {
    roost.close();
    GATE.close();
  }

  @Test
  void aBuildThatNothingUsesGoesAndIsCreatedAgainWhenItIsNeeded() throws SQLException {
    Client client = roost.client();
    String agent = agent("idna", "idna==3.10");
    JsonNode first = build(client.execute(agent, null));
    String inUse = agent("six", "six==1.17.0");
    JsonNode used = build(client.execute(inUse, null));
    String contested = agent("toml", "toml==0.10.2");
    client.execute(contested, null);
    List<String> keys = new ArrayList<>(roost.workers().builds());
    assertTrue(keys.contains(first.path("image_key").asText()), keys::toString);
    patch(agent, "idna==3.9");
    JsonNode second = build(client.execute(agent, null));
    assertNotEquals(first.path("id"), second.path("id"));
    patch(contested, "");

    restart();
    // While this one goes, or before, or after that.
    patch(contested, "toml==0.10.2");
    assertVersion("0.10.2", client.execute(contested, null));

    JsonNode removed =
        Eventually.value(
            "the build is removed",
            () -> Optional.of(build(first)).filter(b -> !b.path("removed_at").isNull()));
    assertEquals(first.path("image_key"), removed.path("image_key"), "it stays for the history");
    Eventually.until(
        "what it named is gone",
        () -> !roost.workers().builds().contains(first.path("image_key").asText()));
    for (JsonNode kept : List.of(used, second)) {
      assertTrue(build(kept).path("removed_at").isNull(), kept::toPrettyString);
    }
    assertVersion("1.17.0", client.execute(inUse, null));
    assertFalse(roost.workers().builds().contains(first.path("image_key").asText()));

    assertVersion("3.10", jobOfRevision(1, agent));
    assertTrue(build(first).path("removed_at").isNull());
    assertTrue(roost.workers().builds().contains(first.path("image_key").asText()));

    restart();
    Eventually.until("it goes again", () -> !build(first).path("removed_at").isNull());
    patch(agent, "idna==3.10");
    JsonNode again = client.execute(agent, null);
    assertEquals("succeeded", again.path("state").asText(), again::toPrettyString);
    assertEquals(first.path("id"), build(again).path("id"), "it is the same Build");
    assertTrue(build(first).path("removed_at").isNull());
  }

  /** An order that waits while another one of its agent runs becomes one of an earlier revision. */
  private static JsonNode jobOfRevision(int revision, String agent) throws SQLException {
    Client client = roost.client();
    client
        .send("PATCH", "/v1/agents/" + agent, HttpAnswer.write(Map.of("max_concurrency", 1)))
        .expect(200);
    client
        .send(
            "PATCH",
            "/v1/agents/" + agent,
            HttpAnswer.write(
                Map.of(
                    "script",
                    "import socket\n\ndef main():\n    socket.create_connection(tuple(%s)).recv(1)"
                        .formatted(GATE.address()))))
        .expect(200);
    String running = client.submit(agent, null);
    Eventually.until("it runs", () -> GATE.arrivals() == 1);
    String waiting = client.submit(agent, null);
    StoreDatabase.query(
        roost,
        "update executor_job set agent_revision = %d where id = '%s'".formatted(revision, waiting));
    GATE.open();
    client.ended(running);
    return client.ended(waiting);
  }

  /** After the executors have ended: what runs on a Build uses it. */
  private static void restart() {
    Eventually.until(
        "no executor runs",
        () ->
            StoreDatabase.query(roost, "select id from executor where state <> 'ended'").isEmpty());
    roost.terminate();
    roost.set("ROOST_RETENTION_UNUSED_BUILDS", "0s");
    roost.start();
  }

  private static String agent(String name, String requirements) {
    return roost
        .client()
        .agent(VERSION.formatted(name), "requirements", requirements, "keep_warm", 0);
  }

  private static void patch(String agent, String requirements) {
    roost.client().change(agent, "requirements", requirements);
    roost.client().runsNewest(agent);
  }

  /** The Build that a job ran on, or as it is now. */
  private static JsonNode build(JsonNode jobOrBuild) {
    String id =
        jobOrBuild.has("execution")
            ? jobOrBuild.path("execution").path("build_id").asText()
            : jobOrBuild.path("id").asText();
    return roost.client().get("/v1/builds/" + id).expect(200).json();
  }

  private static void assertVersion(String version, JsonNode job) {
    assertEquals("succeeded", job.path("state").asText(), job::toPrettyString);
    assertEquals(version, job.path("execution").path("return_value").asText(), job::toPrettyString);
  }
}
