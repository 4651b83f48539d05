package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Builds whose package index has a private authority and a password, and whose registry has one
 * too; and packages that mean harm while they are built.
 */
@KubernetesOnly
class KubernetesBuildIT {
  private static final String INDEX_PASSWORD = "index-secret-0123456789abcdef";
  private static final String REGISTRY_PASSWORD = "registry-secret-0123456789abcdef";
  private static final List<String> PASSWORDS = List.of(INDEX_PASSWORD, REGISTRY_PASSWORD);
  private static final String KNOWN = "import %1$s\n\ndef main():\n    return %1$s.KNOWN";

  private static final Gate GATE = new Gate();
  private static final List<AutoCloseable> OPEN = new ArrayList<>();
  private static TestIndex index;
  private static PasswordRegistry registry;
  private static RoostProcess roost;
  private static Client client;

  /** Builds that several tests look at begin at once; by their package. */
  private static final Map<String, JsonNode> AGENTS = new HashMap<>();

  @BeforeAll
  static void startEverything() {
    TestCluster cluster = TestCluster.get();
    OPEN.add(GATE);
    index = new TestIndex(cluster.host(), INDEX_PASSWORD);
    OPEN.add(index);
    registry = new PasswordRegistry(cluster.host(), cluster.registryFromHere(), REGISTRY_PASSWORD);
    OPEN.add(registry);
    BuildPackages.all(GATE.address()).forEach(index::add);
    roost = roost(registry.address());
    putSecrets(roost, INDEX_PASSWORD, REGISTRY_PASSWORD);
    roost.start();
    client = roost.client();
    for (String name : List.of("plain", "many", "forger", "talkative")) {
      AGENTS.put(name, agent(client, KNOWN.formatted(name), requirements(name)));
    }
  }

  /** One that has not been started. */
  private static RoostProcess roost(String pushTo) {
    RoostProcess made =
        RoostProcess.prepared(
            "ROOST_BUILDS_INDEX_URL",
            index.url(),
            "ROOST_BUILDS_CONCURRENCY",
            "4",
            "ROOST_KUBERNETES_INDEX_SECRET",
            "index",
            "ROOST_KUBERNETES_CA_CONFIG_MAP",
            "authorities",
            "ROOST_KUBERNETES_REGISTRY_SECRET",
            "registry");
    OPEN.add(made);
    String path = "/" + new ClusterView(made).namespace() + "/agents";
    made.set("ROOST_KUBERNETES_REPOSITORY", pushTo + path);
    made.set("ROOST_KUBERNETES_PULL_REPOSITORY", TestCluster.get().registry() + path);
    return made;
  }

  private static void putSecrets(RoostProcess made, String indexPassword, String other) {
    String namespace = new ClusterView(made).namespace();
    put(namespace, "index", "Opaque", Map.of("netrc", index.netrc(indexPassword)));
    put(
        namespace,
        "registry",
        "kubernetes.io/dockerconfigjson",
        Map.of(".dockerconfigjson", registry.credentials(other)));
    TestCluster.get()
        .client()
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName("authorities")
                .withNamespace(namespace)
                .endMetadata()
                .withData(Map.of("ca.crt", index.authority()))
                .build())
        .createOr(found -> found.update());
  }

  private static void put(String namespace, String name, String type, Map<String, String> content) {
    TestCluster.get()
        .client()
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .endMetadata()
                .withType(type)
                .withStringData(content)
                .build())
        .createOr(found -> found.update());
  }

  @AfterAll
  static void endEverything() throws Exception {
    for (int i = OPEN.size() - 1; i >= 0; i--) {
      OPEN.get(i).close();
    }
  }

  @Test
  void aBuildReportsItsProgressAndNeverAPassword() throws IOException {
    JsonNode agent =
        agent(client, KNOWN.formatted("curious"), requirements("sample", "slow", "curious"));
    String id = agent.path("latest_builder_job_id").asText();
    try (Stream<String> lines =
        client.lines("/v1/builder-jobs/" + id + "/logs", "Accept", "text/event-stream")) {
      List<String> live = new ArrayList<>();
      var following = lines.iterator();
      while (live.stream().noneMatch(line -> line.contains("Building slow==1.0"))) {
        live.add(following.next());
      }
      Eventually.until("it waits at the gate", () -> GATE.arrivals() > 0);
      assertEquals("running", client.get("/v1/builder-jobs/" + id).json().path("state").asText());
      lookAtPod(agent.path("id").asText());
      GATE.open();
      while (following.hasNext() && !live.get(live.size() - 1).startsWith("event:end")) {
        live.add(following.next());
      }
      List<String> messages = client.messages(id);
      assertEquals(
          messages,
          live.stream()
              .filter(line -> line.startsWith("data:"))
              .map(line -> HttpAnswer.parse(line.substring(5)).path("message").asText(null))
              .filter(message -> message != null)
              .toList());
    }
    JsonNode job = client.built(id);
    assertEquals("succeeded", job.path("state").asText(), job::toPrettyString);
    List<String> messages = client.messages(id);
    for (String said : List.of("Built slow==1.0", "Compiled ", "Packed ", "Base image ")) {
      assertTrue(messages.stream().anyMatch(line -> line.contains(said)), messages::toString);
    }
    assertTrue(messages.get(messages.size() - 1).startsWith("Pushed "), messages::toString);
    assertHidden(messages.toString() + job);
    PushedImage image = new PushedImage(image(client, job));
    assertHidden(image.manifest() + image.configuration() + image.layer());
    assertFalse(image.layer().contains("pylock"), "the lock stays where it was made");
    assertHidden(Files.readString(roost.data().resolve("logs").resolve("roost.log")));
    JsonNode known = client.execute(agent.path("id").asText(), null);
    assertEquals("succeeded", known.path("state").asText(), known::toPrettyString);
    lookAtFindings(known.path("execution").path("return_value"));
  }

  /** What is in the cluster while a build is at work. */
  private static void lookAtPod(String agentId) {
    ClusterView view = new ClusterView(roost);
    String builder = view.builder(agentId);
    var pod = view.pod(builder).getSpec();
    for (Container container :
        Stream.concat(pod.getInitContainers().stream(), pod.getContainers().stream()).toList()) {
      List<String> mounted =
          container.getVolumeMounts().stream()
              .map(VolumeMount::getName)
              .filter(Set.of("registry", "index")::contains)
              .toList();
      List<String> expected =
          switch (container.getName()) {
            case "push" -> List.of("registry");
            case "build" -> List.of("index");
            default -> List.of();
          };
      assertEquals(expected, mounted, container.getName());
    }
    assertHidden(view.log(builder, "build"));
    view.objects()
        .forEach(
            (name, text) -> {
              if (!name.equals("Secret/index") && !name.equals("Secret/registry")) {
                assertHidden(text);
              }
            });
  }

  /** What a source package could find out: the index's password, which it is built with. */
  private static void lookAtFindings(JsonNode findings) {
    assertTrue(findings.toString().contains("/run/secrets/roost/index/netrc"), findings::toString);
    for (JsonNode finding : findings) {
      assertEquals("test's secret", finding.path(1).asText(), findings::toString);
      assertEquals(INDEX_PASSWORD.substring(0, 9), finding.path(2).asText(), findings::toString);
    }
  }

  @Test
  void theSameRequirementsMakeTheSameLayerForAnotherRegistry() {
    RoostProcess other = roost(TestCluster.get().registry());
    putSecrets(other, "wrong-" + INDEX_PASSWORD, REGISTRY_PASSWORD);
    other.start();
    Client there = other.client();
    JsonNode refused =
        built(there, agent(there, KNOWN.formatted("sample"), requirements("sample")));
    assertEquals("failed", refused.path("state").asText(), refused::toPrettyString);
    assertEquals("index_unreachable", refused.path("reason").asText(), refused::toPrettyString);
    assertTrue(refused.path("message").asText().contains("401"), refused::toPrettyString);
    assertHidden(refused.toString() + there.messages(refused.path("id").asText()));
    putSecrets(other, INDEX_PASSWORD, REGISTRY_PASSWORD);
    JsonNode second = built(there, agent(there, KNOWN.formatted("plain"), requirements("plain")));
    assertEquals("succeeded", second.path("state").asText(), second::toPrettyString);
    JsonNode first = built(client, AGENTS.get("plain"));
    assertEquals("succeeded", first.path("state").asText(), first::toPrettyString);
    PushedImage one = new PushedImage(image(client, first));
    PushedImage two = new PushedImage(image(there, second));
    assertNotEquals(image(client, first), image(there, second), "two repositories");
    assertEquals(one.layerDigest(), two.layerDigest());
  }

  @Test
  void aRegistryThatRefusesThePasswordIsNamed() {
    built(client, AGENTS.get("plain"));
    built(client, AGENTS.get("many"));
    built(client, AGENTS.get("forger"));
    putSecrets(roost, INDEX_PASSWORD, "wrong-password");
    try {
      JsonNode job = built(client, agent(client, KNOWN.formatted("late"), requirements("late")));
      assertEquals("failed", job.path("state").asText(), job::toPrettyString);
      assertEquals("registry_unreachable", job.path("reason").asText(), job::toPrettyString);
      String message = job.path("message").asText();
      assertTrue(message.contains(registry.address()), message);
      assertTrue(message.contains("check its credentials"), message);
      assertFalse(message.contains("wrong-password"), message);
    } finally {
      putSecrets(roost, INDEX_PASSWORD, REGISTRY_PASSWORD);
    }
  }

  @Test
  void aPackageThatPrintsThePasswordFailsWithoutIt() {
    JsonNode job = built(client, AGENTS.get("talkative"));
    assertEquals("failed", job.path("state").asText(), job::toPrettyString);
    assertEquals("build_from_source_failed", job.path("reason").asText(), job::toPrettyString);
    assertTrue(job.path("message").asText().contains("password ***"), job::toPrettyString);
    assertHidden(job.toString() + client.messages(job.path("id").asText()));
  }

  @Test
  void aPackageThatPrintsAResultOfItsOwnMakingIsNotBelieved() {
    JsonNode job = built(client, AGENTS.get("forger"));
    assertEquals("failed", job.path("state").asText(), job::toPrettyString);
    assertTrue(job.path("build_id").isNull(), job::toPrettyString);
    assertTrue(job.path("message").asText().contains("143"), job::toPrettyString);
    List<String> messages = client.messages(job.path("id").asText());
    assertTrue(messages.contains("I forge a result"), messages::toString);
  }

  @Test
  void aResultOfManyPackagesArrivesWhole() {
    JsonNode job = built(client, AGENTS.get("many"));
    assertEquals("succeeded", job.path("state").asText(), job::toPrettyString);
    JsonNode build = client.get("/v1/builds/" + job.path("build_id").asText()).expect(200).json();
    assertEquals(BuildPackages.MANY + 1, build.path("packages").size());
  }

  private static JsonNode agent(Client client, String script, String requirements) {
    return client.createAgent(script, "requirements", requirements);
  }

  private static String requirements(String... packages) {
    return Stream.of(packages).map(name -> name + "==1.0\n").reduce("", String::concat);
  }

  private static JsonNode built(Client client, JsonNode agent) {
    return client.built(agent.path("latest_builder_job_id").asText());
  }

  private static String image(Client client, JsonNode job) {
    String id = job.path("build_id").asText();
    return client.get("/v1/builds/" + id).expect(200).json().path("image").asText();
  }

  private static void assertHidden(String text) {
    for (String password : PASSWORDS) {
      int at = text.indexOf(password);
      assertTrue(at < 0, () -> text.substring(Math.max(0, at - 300), at + password.length()));
    }
  }
}
