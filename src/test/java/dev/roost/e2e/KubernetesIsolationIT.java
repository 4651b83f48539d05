package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.Ports;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * What a script can find and do that means harm, in a pod. The script of {@code adversary.py} looks
 * around once and returns what it has seen; each test is about a part of that.
 */
@KubernetesOnly
class KubernetesIsolationIT {
  private static final String SCRIPT = resource("snoop.py") + "\n\n" + resource("adversary.py");
  private static final String MARKER = "marker-secret-0123456789abcdef";

  private static RoostProcess roost;

  /** Whose rights the control plane has in all these tests; null: the administrator's. */
  private static ChartAccount account;

  private static Client client;
  private static int internalPort;
  private static String ownStore;
  private static String otherStore;
  private static JsonNode found;
  private static List<Refused> requests;

  @BeforeAll
  static void lookAround() {
    internalPort = Ports.free();
    roost =
        RoostProcess.prepared(
            "ROOST_INTERNAL_PORT",
            Integer.toString(internalPort),
            "ROOST_KUBERNETES_EXECUTOR_URL",
            "http://" + TestCluster.get().host() + ":" + internalPort);
    account = Command.exists("helm") ? account() : null;
    roost.start();
    client = roost.client();
    ownStore = store("own");
    otherStore = store("other");
    client.agent("def main(): pass", "name", "owner", "store_ids", List.of(otherStore));
    String path = "/v1/datastore/" + otherStore + "/entries/key";
    client.send("PUT", path, "\"theirs\"").expect(201);
    String agent = client.agent(SCRIPT, "store_ids", List.of(ownStore), "memory", 512);
    requests = new ArrayList<>(Refused.byTheCluster(new ClusterView(roost).namespace()));
    requests.addAll(Refused.byTheControlPlane(roost.port(), internalPort, otherStore));
    JsonNode job =
        client.execute(
            agent,
            HttpAnswer.write(
                Map.of(
                    "search",
                    true,
                    "writes",
                    List.of("/", "/run/roost", "/run/roost/code", "/opt", "/work", "/tmp"),
                    "readable",
                    List.of("/run/secrets/roost", "/tmp/roost", "/var/run/secrets"),
                    "requests",
                    requests.stream().map(one -> List.of(one.method(), one.url())).toList(),
                    "stores",
                    List.of(
                        List.of(ownStore, "key"),
                        List.of(otherStore, "key"),
                        List.of(ownStore + "/../" + otherStore, "key")))));
    assertEquals("succeeded", job.path("state").asText(), job::toPrettyString);
    found = job.path("execution").path("return_value");
  }

  @AfterAll
  static void end() {
    if (account != null) {
      account.close();
    }
    if (roost != null) {
      roost.close();
    }
  }

  /** Makes the control plane's account before it starts. */
  private static ChartAccount account() {
    ChartAccount made = new ChartAccount(TestCluster.get(), new ClusterView(roost).namespace());
    Path kubeconfig = made.writeKubeconfig(roost.home().resolve("kubeconfig"));
    roost.set("KUBECONFIG", kubeconfig.toString());
    roost.set("ROOST_KUBERNETES_SERVICE_ACCOUNT", made.agentAccount());
    return made;
  }

  @Test
  void noFileNoVariableAndNoMemoryHasACredential() {
    JsonNode search = found.path("search");
    String control = search.path("control").asText();
    assertTrue(search.path("read").asInt() > 1_000, search::toPrettyString);
    assertEquals(
        List.of(control),
        texts(search.path("files")).stream().map(row -> row.get(0)).toList(),
        "found nothing but what it had planted itself");
    assertEquals(List.of(), texts(search.path("processes")));
    String mounts = found.path("mounts").toString();
    assertFalse(mounts.contains("secrets"), mounts);
    assertFalse(mounts.contains("serviceaccount"), mounts);
  }

  @Test
  void noVariableRevealsTheClusterOrRoost() {
    List<String> names = new ArrayList<>();
    found.path("variables").forEach(name -> names.add(name.asText()));
    assertEquals(
        List.of(),
        names.stream()
            .filter(name -> name.startsWith("KUBERNETES_") || name.startsWith("ROOST_"))
            .toList());
  }

  @Test
  void itIsNobodyAndCannotBecomeMore() {
    JsonNode status = found.path("status");
    assertEquals("10001\t10001\t10001\t10001", status.path("Uid").asText());
    assertEquals("10001\t10001\t10001\t10001", status.path("Gid").asText());
    for (String name : List.of("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")) {
      assertEquals("0000000000000000", status.path(name).asText(), name);
    }
    assertEquals("1", status.path("NoNewPrivs").asText());
    assertEquals("2", status.path("Seccomp").asText(), "filters system calls");
    found
        .path("syscalls")
        .fields()
        .forEachRemaining(call -> assertEquals("EPERM", call.getValue().asText(), call.getKey()));
  }

  @Test
  void itWritesInItsOwnDirectoriesOnly() {
    JsonNode writes = found.path("writes");
    for (String path : List.of("/", "/run/roost", "/run/roost/code", "/opt")) {
      assertEquals("EROFS", writes.path(path).asText(), path);
    }
    assertEquals("done", writes.path("/work").asText());
    assertEquals("done", writes.path("/tmp").asText());
  }

  @Test
  void itSeesNothingOfTheSidecar() {
    found
        .path("readable")
        .fields()
        .forEachRemaining(path -> assertEquals("ENOENT", path.getValue().asText(), path.getKey()));
    List<List<String>> processes = texts(found.path("processes"));
    assertFalse(processes.isEmpty());
    for (List<String> process : processes) {
      assertEquals("10001", process.get(1), process::toString);
      assertFalse(process.get(2).contains("--token-file"), process::toString);
    }
  }

  @Test
  void theApiServerAndTheControlPlaneRefuseIt() {
    assertEquals(requests.size(), found.path("answers").size());
    for (int i = 0; i < requests.size(); i++) {
      JsonNode answer = found.path("answers").path(i);
      Refused request = requests.get(i);
      assertTrue(
          request.statuses().contains(answer.path(0).asInt()), () -> request + ": " + answer);
    }
  }

  @Test
  void itReachesItsOwnStoresOnly() {
    JsonNode answers = found.path("stores");
    assertEquals(200, answers.path(0).path(0).asInt(), answers::toString);
    assertTrue(answers.path(0).path(1).has("version"), answers::toString);
    assertEquals("forbidden", answers.path(1).path(1).path("code").asText(), answers::toString);
    assertEquals("forbidden", answers.path(2).path(1).path("code").asText(), answers::toString);
    assertFalse(answers.toString().contains("theirs"));
  }

  @Test
  void whatItLeavesBehindReachesNoOtherAgent() {
    String payload = HttpAnswer.write(Map.of("leave", MARKER, "search", true));
    String one = client.agent(SCRIPT, "env_vars", "HIDDEN=" + MARKER, "memory", 512);
    JsonNode first = value(client.execute(one, payload));
    JsonNode again = value(client.execute(one, "{}"));
    assertEquals(first.path("host"), again.path("host"), "the same executor");
    assertFalse(again.path("processes").toString().contains(MARKER), "its processes are gone");
    String two = client.agent(SCRIPT, "memory", 512);
    JsonNode other = value(client.execute(two, "{\"search\": true}"));
    assertNotEquals(first.path("host"), other.path("host"));
    assertFalse(other.path("left").toString().contains("left-behind"), other::toString);
    assertFalse(other.toString().contains(MARKER), other::toString);
    assertFalse(other.path("variables").toString().contains("HIDDEN"));
  }

  @Test
  void anExecutionFindsNothingOfTheOneBeforeItInItsPod() {
    String agent = client.agent(resource("neighbour.py"), "isolation", "process");
    String host = null;
    for (int i = 0; i < 3; i++) {
      JsonNode result = value(client.execute(agent, "{\"leave\": true}"));
      assertEquals("[]", result.path("found").toString());
      List<String> left = new ArrayList<>();
      result.path("left").forEach(place -> left.add(place.asText()));
      List<String> places = List.of("shm", "sem", "msg", "mq", "/tmp", "/work", "/dev/shm", ".");
      assertTrue(left.containsAll(places), left::toString);
      assertTrue(host == null || host.equals(result.path("host").asText()), "the same pod");
      host = result.path("host").asText();
    }
  }

  @Test
  void kubectlShowsWhatRunsAndNoObjectShowsContents() {
    ClusterView view = new ClusterView(roost);
    String id;
    String job;
    try (Gate gate = new Gate()) {
      id =
          client.agent(
              SCRIPT, "name", "told", "env_vars", "HIDDEN=" + MARKER, "store_ids", List.of());
      String payload = "{\"marker\": \"marker-in-the-payload\", \"gate\": " + gate.address() + "}";
      job = client.submit(id, payload);
      client.logged(job, "hello from the adversary");
      String executor = view.executor(id);
      view.awaitAnnotation(executor, "roost/executor-job-id", job);
      if (Command.exists("kubectl")) {
        String list = view.kubectl("kubectl get jobs,pods -n roost-agents -L roost/agent-id");
        assertEquals(2, list.lines().filter(line -> line.contains(id)).count(), list);
        String columns = view.kubectl("kubectl get pods -n roost-agents -l app.kubernetes.io");
        String line = columns.lines().filter(one -> one.contains(job)).findFirst().orElseThrow();
        assertTrue(line.matches(executor + "-\\w+ +Running +told +1 +" + job), columns);
      }
      String log = view.log(executor, "agent");
      assertTrue(log.matches("(?s)\\[.* exec_\\w+/1 stdout] hello from the adversary\n.*"), log);
      Map<String, String> objects = view.objects();
      Set<String> kinds = new TreeSet<>();
      objects.keySet().forEach(name -> kinds.add(name.replaceAll("/.*", "")));
      assertTrue(kinds.containsAll(Set.of("Job", "Pod", "Secret")), kinds::toString);
      String token = view.token(executor);
      Set<String> secrets =
          new HashSet<>(Set.of(MARKER, "marker-in-the-payload", "marker-in-the-script", token));
      secrets.add(roost.key());
      for (String secret : secrets) {
        assertEquals(List.of(), holders(objects, secret), secret);
      }
      assertEquals(List.of("token"), view.keysOfSecret(executor));
      gate.open();
    }
    assertEquals("succeeded", client.ended(job).path("state").asText());
    client.send("DELETE", "/v1/agents/" + id, null).expect(204);
    view.awaitNothingOf(id);
  }

  @Test
  void theControlPlaneManagesWithTheRightsThatTheChartGivesIt() throws IOException {
    Command.require("helm", "the tests of the rights that the chart gives");
    ClusterView view = new ClusterView(roost);
    String built =
        client.agent(
            "import six\n\ndef main():\n    return six.__version__", "requirements", "six==1.17.0");
    assertEquals("1.17.0", value(client.execute(built, null)).asText());
    try (Gate gate = new Gate()) {
      String cancelled = client.submit(built, null);
      String held = client.agent(SCRIPT);
      String job = client.submit(held, "{\"gate\": " + gate.address() + "}");
      client.logged(job, "hello from the adversary");
      client.post("/v1/executor-jobs/" + job + "/cancel", "{}").expect(200);
      assertEquals("cancelled", client.ended(job).path("state").asText());
      client.ended(cancelled);
      for (String agent : List.of(built, held)) {
        client.send("DELETE", "/v1/agents/" + agent, null).expect(204);
        view.awaitNothingOf(agent);
      }
    }
    String log = Files.readString(roost.data().resolve("logs").resolve("roost.log"));
    assertFalse(log.contains("orbidden"), log);
  }

  @Test
  void thoseRightsAreAllThatItHas() {
    Command.require("helm", "the tests of the rights that the chart gives");
    String agents = new ClusterView(roost).namespace();
    try (KubernetesClient self = account.client()) {
      assertEquals(account.chartRights(), ChartAccount.rights(self, agents));
      for (String namespace : List.of(account.namespace(), "default", "kube-system")) {
        assertEquals(Set.of(), ChartAccount.rights(self, namespace), namespace);
      }
      for (String namespace : List.of(agents, account.namespace())) {
        var secrets = self.secrets().inNamespace(namespace);
        assertRefused(secrets::list);
        assertRefused(() -> secrets.withName("any").get());
      }
      assertRefused(() -> self.namespaces().list());
      assertRefused(() -> self.nodes().list());
    }
  }

  private static void assertRefused(Executable question) {
    int code = assertThrows(KubernetesClientException.class, question).getCode();
    assertEquals(403, code);
  }

  /** Objects that have a text, as it is or in base64; the Secret of a token isn't asked. */
  private static List<String> holders(Map<String, String> objects, String text) {
    String encoded =
        Base64.getEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    return objects.entrySet().stream()
        .filter(object -> !object.getKey().startsWith("Secret/"))
        .filter(object -> object.getValue().contains(text) || object.getValue().contains(encoded))
        .map(Map.Entry::getKey)
        .toList();
  }

  private static String store(String name) {
    return client
        .post("/v1/datastore", "{\"name\": \"" + name + "\"}")
        .expect(201)
        .json()
        .path("id")
        .asText();
  }

  private static JsonNode value(JsonNode job) {
    assertEquals("succeeded", job.path("state").asText(), job::toPrettyString);
    return job.path("execution").path("return_value");
  }

  private static List<List<String>> texts(JsonNode rows) {
    List<List<String>> texts = new ArrayList<>();
    for (JsonNode row : rows) {
      List<String> cells = new ArrayList<>();
      row.forEach(cell -> cells.add(cell.asText()));
      texts.add(cells);
    }
    return texts;
  }

  static String resource(String name) {
    try (var stream = KubernetesIsolationIT.class.getResourceAsStream("/e2e/" + name)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
