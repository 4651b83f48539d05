package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * An installation with the Helm chart, from its beginning to its end: two replicas in the cluster,
 * with the images of {@code images/}.
 */
@KubernetesOnly
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ChartIT {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String POSTGRES = "docker.io/library/postgres:17";
  private static final int CLIENTS = 6;

  private static final String SCRIPT =
      Tally.TELL
          + """

          import time

          def main(request):
              tell(request.payload["address"], request.payload["id"])
              time.sleep(request.payload["seconds"])
              return request.payload["id"]
          """;

  private final TestCluster cluster = TestCluster.isChosen() ? TestCluster.get() : null;
  private final String namespace =
      "roost-e2e-" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);
  private List<String> values;

  @BeforeAll
  void install() {
    Command.require("helm", "the tests of the Helm chart");
    kubernetes()
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withName(namespace)
                .addToLabels(TestCluster.LABEL, "true")
                .addToLabels("pod-security.kubernetes.io/enforce", "restricted")
                .endMetadata()
                .build())
        .create();
    values = values(postgresUser());
    helm("install", "roost", "k8s/roost", "--wait", "--timeout=4m");
  }

  @AfterAll
  void remove() {
    if (cluster != null) {
      kubernetes().namespaces().withName(namespace).delete();
      kubernetes().namespaces().withName(namespace + "-agents").delete();
    }
  }

  @Test
  @Order(1)
  void itsOwnTestMakesAnAgentAndExecutesIt() {
    String said = helm("test", "roost", "--timeout=4m");
    assertTrue(said.contains("Succeeded"), said);
  }

  /** Clients that keep their connections and never try again see nothing of it. */
  @Test
  @Order(2)
  void anUpgradeFailsNoRequestAndRunsEachOrderOnce() throws InterruptedException {
    Client roost = roost();
    Tally tally = new Tally();
    String agent = roost.agent(SCRIPT, "max_concurrency", 4, "name", "upgrade");
    Map<String, String> orders = new ConcurrentHashMap<>();
    Queue<String> failures = new ConcurrentLinkedQueue<>();
    AtomicBoolean done = new AtomicBoolean();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      String prefix = "client " + i + ", order ";
      Thread client =
          new Thread(
              () -> {
                for (int n = 0; !done.get(); n++) {
                  String id = prefix + n;
                  try {
                    orders.put(id, order(roost, agent, tally, id, n % 10 == 0 ? 2 : 0));
                  } catch (RuntimeException | AssertionError e) {
                    failures.add(id + ": " + e);
                  }
                }
              });
      client.start();
      clients.add(client);
    }
    try {
      Await.until("orders flow", () -> orders.size() > CLIENTS);
      helm(
          "upgrade",
          "roost",
          "k8s/roost",
          "--wait",
          "--timeout=5m",
          "--set=podAnnotations.round=two");
    } finally {
      done.set(true);
      for (Thread client : clients) {
        client.join();
      }
    }
    assertEquals(List.of(), List.copyOf(failures));
    for (Map.Entry<String, String> order : orders.entrySet()) {
      JsonNode job = roost.ended(order.getValue());
      assertEquals("succeeded", job.path("state").asText(), job::toString);
      assertEquals(order.getKey(), job.path("execution").path("return_value").asText());
    }
    assertEquals(
        orders.keySet().stream().sorted().toList(), tally.told().stream().sorted().toList());
    tally.close();
  }

  /** By the rights of the chart's Role; whether it is enforced is the network plug-in's affair. */
  @Test
  @Order(3)
  void anAgentThatListsItsDestinationsHasAPolicyForEachExecutor() {
    Client roost = roost();
    String agent =
        roost.agent("def main():\n    return 42", "egress", "8.8.8.8:443", "profile", "plain");
    JsonNode order = roost.post("/v1/agents/" + agent + "/execute", "{}").expect(201).json();
    JsonNode job = roost.ended(order.path("id").asText());
    assertEquals("succeeded", job.path("state").asText(), job::toString);
    List<NetworkPolicy> made = policiesOf(agent);
    assertEquals(1, made.size(), made::toString);
    assertEquals(
        "8.8.8.8/32",
        made.get(0).getSpec().getEgress().get(0).getTo().get(0).getIpBlock().getCidr());
    roost.send("DELETE", "/v1/agents/" + agent, null).expect(204);
    Await.until("the policy goes with its Job", LIMIT, () -> policiesOf(agent).isEmpty());
  }

  private List<NetworkPolicy> policiesOf(String agent) {
    return kubernetes()
        .network()
        .v1()
        .networkPolicies()
        .inNamespace(namespace + "-agents")
        .withLabel("roost/agent-id", agent)
        .list()
        .getItems();
  }

  @Test
  @Order(4)
  void nothingOfItIsLeftInTheEnd() {
    helm("uninstall", "roost", "--wait", "--timeout=4m");
    Await.until(
        "the agents' namespace is gone",
        LIMIT,
        () -> kubernetes().namespaces().withName(namespace + "-agents").get() == null);
    Await.until("nothing is left", LIMIT, () -> left().isEmpty());
  }

  /** What is in the namespace that Kubernetes has not put into it by itself. */
  private List<String> left() {
    KubernetesClient kubernetes = kubernetes();
    return Stream.of(
            kubernetes.apps().deployments().inNamespace(namespace).list().getItems(),
            kubernetes.apps().statefulSets().inNamespace(namespace).list().getItems(),
            kubernetes.apps().replicaSets().inNamespace(namespace).list().getItems(),
            kubernetes.pods().inNamespace(namespace).list().getItems(),
            kubernetes.services().inNamespace(namespace).list().getItems(),
            kubernetes.configMaps().inNamespace(namespace).list().getItems(),
            kubernetes.secrets().inNamespace(namespace).list().getItems(),
            kubernetes.serviceAccounts().inNamespace(namespace).list().getItems(),
            kubernetes.persistentVolumeClaims().inNamespace(namespace).list().getItems(),
            kubernetes.batch().v1().jobs().inNamespace(namespace).list().getItems(),
            kubernetes.rbac().roles().inNamespace(namespace).list().getItems(),
            kubernetes.rbac().roleBindings().inNamespace(namespace).list().getItems(),
            kubernetes.network().v1().networkPolicies().inNamespace(namespace).list().getItems(),
            kubernetes.policy().v1().podDisruptionBudget().inNamespace(namespace).list().getItems())
        .flatMap(List::stream)
        .map(HasMetadata.class::cast)
        .map(one -> one.getKind() + " " + one.getMetadata().getName())
        .filter(
            name -> !List.of("ConfigMap kube-root-ca.crt", "ServiceAccount default").contains(name))
        .toList();
  }

  private static String order(Client roost, String agent, Tally tally, String id, int seconds) {
    String payload =
        "{\"address\": %s, \"id\": \"%s\", \"seconds\": %d}"
            .formatted(tally.address(), id, seconds);
    return roost
        .post("/v1/agents/" + agent + "/execute?wait=10", "{\"payload\": " + payload + "}")
        .expect(201)
        .json()
        .path("id")
        .asText();
  }

  private Client roost() {
    String key =
        new String(
                Base64.getDecoder()
                    .decode(
                        kubernetes()
                            .secrets()
                            .inNamespace(namespace)
                            .withName("roost-api-key")
                            .get()
                            .getData()
                            .get("api-key")),
                StandardCharsets.UTF_8)
            .strip();
    int port =
        kubernetes()
            .services()
            .inNamespace(namespace)
            .withName("roost")
            .get()
            .getSpec()
            .getPorts()
            .get(0)
            .getNodePort();
    return new Client("http://" + cluster.node() + ":" + port, key);
  }

  private List<String> values(String postgresUser) {
    return List.of(
        "--set=images.controlPlane=" + cluster.image("control-plane"),
        "--set=images.builder=" + cluster.image("builder"),
        "--set=images.executor=" + cluster.image("executor"),
        "--set=service.type=NodePort",
        "--set=agents.profiles.plain.seccompProfile.type=RuntimeDefault",
        "--set=resources.requests.cpu=50m",
        "--set=postgresql.enabled=true,postgresql.persistence.enabled=false",
        "--set=postgresql.image=" + POSTGRES + ",postgresql.uid=" + postgresUser,
        "--set=registry.repository=" + cluster.registry() + "/" + namespace + "/agents",
        "--set=registry.insecure=true",
        "--set-string=settings.roost\\.kubernetes\\.base-image=" + cluster.baseImage(),
        "--set=settings.roost\\.kubernetes\\.python-versions=3.11\\,3.13",
        "--set-string=settings.roost\\.kubernetes\\.cpu-request-ratio=0.02",
        "--set-string=settings.roost\\.kubernetes\\.memory-request-ratio=0.25");
  }

  /** The number of the user postgres, which differs between images of that name. */
  private String postgresUser() {
    Pod pod =
        kubernetes()
            .resource(
                new PodBuilder()
                    .withNewMetadata()
                    .withName("postgres-user")
                    .withNamespace("default")
                    .addToLabels(TestCluster.LABEL, "true")
                    .endMetadata()
                    .withNewSpec()
                    .withRestartPolicy("Never")
                    .addNewContainer()
                    .withName("id")
                    .withImage(POSTGRES)
                    .withCommand("id", "-u", "postgres")
                    .endContainer()
                    .endSpec()
                    .build())
            .createOr(found -> found.update());
    try {
      Await.until(
          "the user of " + POSTGRES,
          LIMIT,
          () -> "Succeeded".equals(kubernetes().resource(pod).get().getStatus().getPhase()));
      return kubernetes().pods().resource(pod).getLog().strip();
    } finally {
      kubernetes().resource(pod).withGracePeriod(0).delete();
    }
  }

  private String helm(String command, String... arguments) {
    List<String> all = new ArrayList<>(List.of("helm", command, "--namespace=" + namespace));
    all.add("--kubeconfig=" + cluster.kubeconfig());
    all.addAll(List.of(arguments));
    if (command.equals("install") || command.equals("upgrade")) {
      all.addAll(values);
    }
    return Command.run(LIMIT, all.toArray(String[]::new));
  }

  private KubernetesClient kubernetes() {
    return cluster.client();
  }
}
