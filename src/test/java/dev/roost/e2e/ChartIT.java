package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
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

  private ChartInstallation chart;
  private String namespace;

  @BeforeAll
  void install() {
    chart = new ChartInstallation();
    namespace = chart.namespace();
    chart.helm("install", "--wait", "--timeout=4m");
  }

  @AfterAll
  void remove() {
    if (chart != null) {
      chart.close();
    }
  }

  @Test
  @Order(1)
  void itsOwnTestMakesAnAgentAndExecutesIt() {
    String said = chart.helm("test", "--timeout=4m");
    assertTrue(said.contains("Succeeded"), said);
    String logged =
        kubernetes()
            .pods()
            .inNamespace(namespace)
            .withLabel("app.kubernetes.io/component", "control-plane")
            .list()
            .getItems()
            .stream()
            .map(pod -> kubernetes().pods().resource(pod).getLog())
            .collect(Collectors.joining());
    assertTrue(logged.contains("method=POST path=/v1/agents status=201 "), logged);
    assertFalse(logged.contains("path=/internal/"), logged);
  }

  /** Clients that keep their connections and never try again see nothing of it. */
  @Test
  @Order(2)
  void anUpgradeFailsNoRequestAndRunsEachJobOnce() throws InterruptedException {
    Client roost = chart.roost();
    Tally tally = new Tally();
    String agent = roost.agent(SCRIPT, "max_concurrency", 4, "name", "upgrade");
    Map<String, String> jobs = new ConcurrentHashMap<>();
    Queue<String> failures = new ConcurrentLinkedQueue<>();
    AtomicBoolean done = new AtomicBoolean();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      String prefix = "client " + i + ", job ";
      Thread client =
          new Thread(
              () -> {
                for (int n = 0; !done.get(); n++) {
                  String id = prefix + n;
                  try {
                    jobs.put(id, submit(roost, agent, tally, id, n % 10 == 0 ? 2 : 0));
                  } catch (RuntimeException | AssertionError e) {
                    failures.add(id + ": " + e);
                  }
                }
              });
      client.start();
      clients.add(client);
    }
    try {
      Eventually.until("jobs flow", () -> jobs.size() > CLIENTS);
      chart.helm("upgrade", "--wait", "--timeout=5m", "--set=podAnnotations.round=two");
    } finally {
      done.set(true);
      for (Thread client : clients) {
        client.join();
      }
    }
    assertEquals(List.of(), List.copyOf(failures));
    for (Map.Entry<String, String> entry : jobs.entrySet()) {
      JsonNode job = roost.ended(entry.getValue());
      assertEquals("succeeded", job.path("state").asText(), job::toString);
      assertEquals(entry.getKey(), job.path("execution").path("return_value").asText());
    }
    assertEquals(jobs.keySet().stream().sorted().toList(), tally.told().stream().sorted().toList());
    tally.close();
  }

  /** By the rights of the chart's Role; whether it is enforced is the network plug-in's affair. */
  @Test
  @Order(3)
  void anAgentThatListsItsDestinationsHasAPolicyForEachExecutor() {
    Client roost = chart.roost();
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
    Eventually.until("the policy goes with its Job", LIMIT, () -> policiesOf(agent).isEmpty());
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

  /** No replica leaves the Service for it, and each answers what a client can act on. */
  @Test
  @Order(4)
  void whileTheDatabaseIsAwayTheServiceSaysWhenToComeBack() throws Exception {
    Client roost = chart.roost();
    String database = "roost-postgresql";
    Map<String, String> selector =
        kubernetes()
            .services()
            .inNamespace(namespace)
            .withName(database)
            .get()
            .getSpec()
            .getSelector();
    select(database, Map.of("nobody", "at-all"));
    try {
      Eventually.until(
          "the database is away",
          LIMIT,
          () -> {
            kubectl("exec", database + "-0", "--", "sh", "-c", "kill -INT 1");
            return roost.get("/v1/agents").status() == 503;
          });
      // Longer than the probes take to call a replica not ready.
      long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
      while (System.nanoTime() < end) {
        HttpAnswer answer = roost.get("/v1/agents");
        assertEquals(503, answer.status(), answer.text());
        assertEquals("unavailable", answer.json().path("code").asText());
        assertEquals("1", answer.header("Retry-After"));
        Thread.sleep(200);
      }
    } finally {
      select(database, selector);
    }
    Eventually.until("it serves again", LIMIT, () -> roost.get("/v1/agents").status() == 200);
    String agent = roost.agent("def main():\n    return 43", "name", "after the outage");
    JsonNode job = roost.post("/v1/agents/" + agent + "/execute?wait=60", "{}").expect(201).json();
    assertEquals(
        43, roost.ended(job.path("id").asText()).path("execution").path("return_value").asInt());
  }

  private void select(String service, Map<String, String> selector) {
    kubernetes()
        .services()
        .inNamespace(namespace)
        .withName(service)
        .edit(
            found -> {
              found.getSpec().setSelector(selector);
              return found;
            });
  }

  private String kubectl(String... arguments) {
    List<String> all = new ArrayList<>(List.of("kubectl", "--namespace=" + namespace));
    all.add("--kubeconfig=" + TestCluster.get().kubeconfig());
    all.addAll(List.of(arguments));
    return Command.run(LIMIT, all.toArray(String[]::new));
  }

  @Test
  @Order(5)
  void nothingOfItIsLeftInTheEnd() {
    chart.helm("uninstall", "--wait", "--timeout=4m");
    Eventually.until(
        "the agents' namespace is gone",
        LIMIT,
        () -> kubernetes().namespaces().withName(namespace + "-agents").get() == null);
    Eventually.until("nothing is left", LIMIT, () -> left().isEmpty());
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

  private static String submit(Client roost, String agent, Tally tally, String id, int seconds) {
    String payload =
        "{\"address\": %s, \"id\": \"%s\", \"seconds\": %d}"
            .formatted(tally.address(), id, seconds);
    long began = System.nanoTime();
    JsonNode job =
        roost
            .post("/v1/agents/" + agent + "/execute?wait=10", "{\"payload\": " + payload + "}")
            .expect(201)
            .json();
    Duration waited = Duration.ofNanos(System.nanoTime() - began);
    assertTrue(
        job.path("state").asText().equals("succeeded") || waited.toSeconds() >= 8,
        () -> "answered after " + waited + ": " + job);
    return job.path("id").asText();
  }

  private KubernetesClient kubernetes() {
    return TestCluster.get().client();
  }
}
