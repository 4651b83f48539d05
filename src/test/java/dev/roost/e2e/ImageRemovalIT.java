package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Images of unused Builds in a registry with a password, which doesn't always do what it is told.
 */
@Tag("soak")
@KubernetesOnly
class ImageRemovalIT {
  private static final String PASSWORD = "registry-secret-0123456789abcdef";

  private RoostProcess roost;
  private Client client;

  @Test
  void anImageIsRemovedWhenTheRegistryLetsIt() {
    TestCluster cluster = TestCluster.get();
    try (PasswordRegistry registry =
            new PasswordRegistry(cluster.host(), cluster.registryFromHere(), PASSWORD);
        RoostProcess process =
            RoostProcess.prepared("ROOST_KUBERNETES_REGISTRY_SECRET", "registry")) {
      roost = process;
      String namespace = new ClusterView(process).namespace();
      String path = "/" + namespace + "/agents";
      process.set("ROOST_KUBERNETES_REPOSITORY", registry.address() + path);
      process.set("ROOST_KUBERNETES_PULL_REPOSITORY", cluster.registry() + path);
      putSecret(namespace, registry);
      process.start();
      client = process.client();

      JsonNode refused = unused("six==1.17.0");
      JsonNode base = unused("");
      registry.answerDeletions(403);
      restart();
      Eventually.until(
          "it was tried", () -> log().contains("could not be removed; next attempt in an hour"));
      assertTrue(log().contains("check its credentials"), this::log);
      assertTrue(isRemoved(refused));
      assertTrue(images().contains(key(refused)), "it is still there");

      registry.answerDeletions(405);
      restart();
      Eventually.until("it is logged", () -> log().contains("enable deletion in the registry"));
      Eventually.until("the next ones go on", () -> isRemoved(base));
      assertTrue(images().contains(key(refused)), "nothing can be done about it");

      JsonNode removed = unused("idna==3.10");
      registry.answerDeletions(0);
      restart();
      Eventually.until("it is removed", () -> !images().contains(key(removed)));
      assertTrue(isRemoved(removed));
      Eventually.until("its Job is taken away", () -> removers().isEmpty());
      assertFalse(log().contains(PASSWORD));

      // No image of another repository was touched, the base image least of all.
      String again = agent("");
      assertEquals("succeeded", client.execute(again, null).path("state").asText());
    }
  }

  private void restart() {
    Eventually.until(
        "no executor runs",
        () ->
            StoreDatabase.query(roost, "select id from executor where state <> 'ended'").isEmpty());
    roost.terminate();
    roost.set("ROOST_RETENTION_UNUSED_BUILDS", "0s");
    roost.start();
  }

  /** A Build that was used once, by an agent that is deleted. */
  private JsonNode unused(String requirements) {
    String agent = agent(requirements);
    JsonNode job = client.execute(agent, null);
    assertEquals("succeeded", job.path("state").asText(), job::toPrettyString);
    client.send("DELETE", "/v1/agents/" + agent, null).expect(204);
    String id = job.path("execution").path("build_id").asText();
    return client.get("/v1/builds/" + id).expect(200).json();
  }

  private String agent(String requirements) {
    return client.agent("def main():\n    return 1", "requirements", requirements, "keep_warm", 0);
  }

  private boolean isRemoved(JsonNode build) {
    String id = build.path("id").asText();
    return !client.get("/v1/builds/" + id).expect(200).json().path("removed_at").isNull();
  }

  private List<String> images() {
    return roost.workers().builds();
  }

  private static String key(JsonNode build) {
    return build.path("image_key").asText();
  }

  private List<String> removers() {
    return TestCluster.get()
        .client()
        .batch()
        .v1()
        .jobs()
        .inNamespace(new ClusterView(roost).namespace())
        .list()
        .getItems()
        .stream()
        .map(job -> job.getMetadata().getName())
        .filter(name -> name.startsWith("remover-"))
        .toList();
  }

  private String log() {
    try {
      return Files.readString(roost.data().resolve("logs").resolve("roost.log"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void putSecret(String namespace, PasswordRegistry registry) {
    TestCluster.get()
        .client()
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName("registry")
                .withNamespace(namespace)
                .endMetadata()
                .withType("kubernetes.io/dockerconfigjson")
                .withStringData(Map.of(".dockerconfigjson", registry.credentials(PASSWORD)))
                .build())
        .create();
  }
}
