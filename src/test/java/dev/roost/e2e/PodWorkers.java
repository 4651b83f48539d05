package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.ExecWatch;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Pods in a namespace of their own, which goes with them. */
final class PodWorkers implements Workers {
  private final TestCluster cluster;
  private final KubernetesClient client;
  private final String namespace =
      "roost-e2e-" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);

  PodWorkers(TestCluster cluster) {
    this.cluster = cluster;
    this.client = cluster.client();
    client
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withName(namespace)
                .addToLabels(TestCluster.LABEL, "true")
                .addToLabels("pod-security.kubernetes.io/enforce", "restricted")
                .endMetadata()
                .build())
        .create();
    // Until then no pod can be made, and the next attempt is ten seconds later.
    Eventually.until(
        "the namespace has its service account",
        () ->
            client.serviceAccounts().inNamespace(namespace).withName("default").get() != null
                && client.configMaps().inNamespace(namespace).withName("kube-root-ca.crt").get()
                    != null);
  }

  @Override
  public Map<String, String> settings(int port) {
    return Map.ofEntries(
        Map.entry("KUBECONFIG", cluster.kubeconfig().toString()),
        Map.entry("ROOST_RUNTIME", "kubernetes"),
        Map.entry("ROOST_HOST", "0.0.0.0"),
        Map.entry("ROOST_KUBERNETES_NAMESPACE", namespace),
        Map.entry("ROOST_KUBERNETES_EXECUTOR_URL", "http://" + cluster.host() + ":" + port),
        Map.entry("ROOST_KUBERNETES_REPOSITORY", cluster.registry() + "/" + repository()),
        Map.entry("ROOST_KUBERNETES_INSECURE_REGISTRY", "true"),
        Map.entry("ROOST_KUBERNETES_BUILDER_IMAGE", cluster.image("builder")),
        Map.entry("ROOST_KUBERNETES_EXECUTOR_IMAGE", cluster.image("executor")),
        Map.entry("ROOST_KUBERNETES_BASE_IMAGE", cluster.baseImage()),
        Map.entry("ROOST_KUBERNETES_PYTHON_VERSIONS", "3.11,3.13"),
        Map.entry("ROOST_KUBERNETES_MAX_EXECUTORS", "60"),
        // A test cluster is small, and most of these pods do nothing most of the time.
        Map.entry("ROOST_KUBERNETES_CPU_REQUEST_RATIO", "0.01"),
        Map.entry("ROOST_KUBERNETES_MEMORY_REQUEST_RATIO", "0.1"));
  }

  String namespace() {
    return namespace;
  }

  private String repository() {
    return namespace + "/agents";
  }

  @Override
  public Worker executorOf(String agentId, String part) {
    return running(
        "roost/agent-id", agentId, "executor", part.equals("runner") ? "agent" : "sidecar");
  }

  /**
   * The test cluster's nodes are this machine, and a process has its pod's name in its environment.
   */
  @Override
  public Machine.Running scriptOf(String agentId) {
    executorOf(agentId, "runner");
    String pod = pods("roost/agent-id", agentId).get(0).getMetadata().getName();
    return Eventually.value(
        "a script in " + pod,
        () -> {
          List<Machine.Running> all =
              Machine.processesOf(Path.of(pod)).stream()
                  .filter(one -> one.command().contains(" runner "))
                  .toList();
          List<Long> pids = all.stream().map(Machine.Running::pid).toList();
          return all.stream().filter(one -> pids.contains(Machine.parent(one.pid()))).findFirst();
        });
  }

  @Override
  public Worker builderOf(String builderJobId) {
    return running("roost/builder-job-id", builderJobId, "builder", "build");
  }

  private Worker running(String label, String value, String component, String container) {
    return Eventually.value(
        "a running container " + container + " of " + value,
        () ->
            pods(label, value).stream()
                .filter(
                    pod ->
                        pod.getMetadata()
                            .getLabels()
                            .get("app.kubernetes.io/component")
                            .equals(component))
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .filter(pod -> isRunning(pod, container))
                .map(pod -> new Container(pod.getMetadata().getName(), container))
                .findFirst());
  }

  @Override
  public boolean isBuilding(String builderJobId) {
    return !pods("roost/builder-job-id", builderJobId).isEmpty();
  }

  @Override
  public List<String> builds() {
    return cluster.tags(repository());
  }

  /** Empties the registry, as somebody's clean-up does it. */
  void removeBuilds() {
    builds().forEach(tag -> cluster.removeImage(repository(), tag));
  }

  @Override
  public int many() {
    return 12;
  }

  @Override
  public void close() {
    client.namespaces().withName(namespace).delete();
  }

  KubernetesClient client() {
    return client;
  }

  /** Deletes the pod of an executor of the agent, as a drained node or a person does it. */
  void deletePod(String agentId, int graceSeconds) {
    executorOf(agentId, "runner");
    client
        .pods()
        .inNamespace(namespace)
        .withLabel("roost/agent-id", agentId)
        .withGracePeriod(graceSeconds)
        .delete();
  }

  @Override
  public boolean hasPooledExecutor(String agentId) {
    return pods("roost/agent-id", agentId).stream()
        .anyMatch(pod -> pod.getMetadata().getLabels().containsKey("roost/pool"));
  }

  @Override
  public int killPooled() {
    return client
        .pods()
        .inNamespace(namespace)
        .withLabel("roost/pool")
        .withoutLabel("roost/agent-id")
        .withGracePeriod(0)
        .delete()
        .size();
  }

  /** As a drain does it. */
  void evictPod(String agentId) {
    executorOf(agentId, "runner");
    String pod = pods("roost/agent-id", agentId).get(0).getMetadata().getName();
    assertTrue(client.pods().inNamespace(namespace).withName(pod).evict());
  }

  void deletePodNamed(String pod, int graceSeconds) {
    client.pods().inNamespace(namespace).withName(pod).withGracePeriod(graceSeconds).delete();
  }

  /** The pods of executors that have not been deleted. */
  List<String> executors() {
    return client
        .pods()
        .inNamespace(namespace)
        .withLabel("app.kubernetes.io/component", "executor")
        .list()
        .getItems()
        .stream()
        .map(Pod::getMetadata)
        .filter(pod -> pod.getDeletionTimestamp() == null)
        .map(ObjectMeta::getName)
        .toList();
  }

  /** All Jobs, pods and Secrets of the installation, by kind and name. */
  List<String> objects() {
    return Stream.of(
            client.batch().v1().jobs().inNamespace(namespace).list().getItems(),
            client.pods().inNamespace(namespace).list().getItems(),
            client.secrets().inNamespace(namespace).list().getItems())
        .flatMap(List::stream)
        .map(one -> one.getKind() + " " + one.getMetadata().getName())
        .toList();
  }

  /** Deletes every agent and waits until nothing of Roost is in the cluster any more. */
  void assertNothingIsLeft(Client roost) {
    for (JsonNode agent : roost.get("/v1/agents?limit=200").expect(200).json().path("data")) {
      roost.send("DELETE", "/v1/agents/" + agent.path("id").asText(), null).expect(204);
    }
    List<String> left = new ArrayList<>();
    try {
      Eventually.until(
          "nothing is left",
          () -> {
            left.clear();
            left.addAll(objects());
            return left.isEmpty();
          });
    } catch (AssertionError e) {
      throw new AssertionError("left in the cluster: " + left, e);
    }
  }

  private List<Pod> pods(String label, String value) {
    return client.pods().inNamespace(namespace).withLabel(label, value).list().getItems();
  }

  private static boolean isRunning(Pod pod, String container) {
    return Stream.of(
            pod.getStatus().getInitContainerStatuses(), pod.getStatus().getContainerStatuses())
        .flatMap(List::stream)
        .filter(status -> status.getName().equals(container))
        .map(ContainerStatus::getState)
        .anyMatch(state -> state != null && state.getRunning() != null);
  }

  private final class Container implements Worker {
    private final String pod;
    private final String name;

    Container(String pod, String name) {
      this.pod = pod;
      this.name = name;
    }

    /**
     * Removes the whole pod: nothing in a container can kill its first process, and no client of
     * the API server can kill a container alone.
     */
    @Override
    public void kill() {
      client.pods().inNamespace(namespace).withName(pod).withGracePeriod(0).delete();
    }

    @Override
    public boolean isAlive() {
      return Optional.ofNullable(client.pods().inNamespace(namespace).withName(pod).get())
          .map(seen -> isRunning(seen, name))
          .orElse(false);
    }

    @Override
    public long peakMemoryMib() {
      return Machine.memoryMib(run("cat", "/proc/1/status"), "VmHWM");
    }

    private String run(String... command) {
      ByteArrayOutputStream output = new ByteArrayOutputStream();
      try (ExecWatch watch =
          client
              .pods()
              .inNamespace(namespace)
              .withName(pod)
              .inContainer(name)
              .writingOutput(output)
              .exec(command)) {
        watch.exitCode().get(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS);
      } catch (Exception e) {
        throw new AssertionError(String.join(" ", command) + " in " + pod, e);
      }
      return output.toString(StandardCharsets.UTF_8);
    }
  }
}
