package dev.roost.e2e;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The agents' namespace of a Roost, as its administrator sees it. */
final class ClusterView {
  private final KubernetesClient client = TestCluster.get().client();
  private final String namespace;

  ClusterView(RoostProcess roost) {
    namespace = ((PodWorkers) roost.workers()).namespace();
  }

  String namespace() {
    return namespace;
  }

  /** The name of the Job of an agent's only executor. */
  String executor(String agentId) {
    return only("executor", agentId);
  }

  /** The name of the Job of an agent's only build. */
  String builder(String agentId) {
    return only("builder", agentId);
  }

  private String only(String component, String agentId) {
    return Eventually.value(
        "the " + component + " of " + agentId,
        () ->
            client
                .batch()
                .v1()
                .jobs()
                .inNamespace(namespace)
                .withLabel("app.kubernetes.io/component", component)
                .withLabel("roost/agent-id", agentId)
                .list()
                .getItems()
                .stream()
                .map(job -> job.getMetadata().getName())
                .findFirst());
  }

  /** The pod of a Job. */
  Pod pod(String job) {
    return Eventually.value(
        "the pod of " + job,
        () ->
            client
                .pods()
                .inNamespace(namespace)
                .withLabel("batch.kubernetes.io/job-name", job)
                .list()
                .getItems()
                .stream()
                .findFirst());
  }

  void awaitAnnotation(String job, String name, String value) {
    Eventually.until(
        name + " of " + job, () -> value.equals(pod(job).getMetadata().getAnnotations().get(name)));
  }

  void awaitNothingOf(String agentId) {
    Eventually.until(
        "no object of " + agentId + " is left",
        () -> objects().values().stream().noneMatch(text -> text.contains(agentId)));
  }

  /**
   * A command of docs/kubernetes.md, as it stands there but for the namespace.
   *
   * @param start of its line
   */
  String kubectl(String start) {
    String line;
    try (Stream<String> lines = Files.lines(Path.of("docs/kubernetes.md"))) {
      line = lines.filter(one -> one.startsWith(start)).findFirst().orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Command.run("sh", "-c", line.replace("-n roost-agents", "-n " + namespace));
  }

  /** What a container has printed so far. */
  String log(String job, String container) {
    return client
        .pods()
        .inNamespace(namespace)
        .withName(pod(job).getMetadata().getName())
        .inContainer(container)
        .getLog();
  }

  /** Of an executor's Secret. */
  String token(String executor) {
    String data =
        client.secrets().inNamespace(namespace).withName(executor).get().getData().get("token");
    return new String(Base64.getDecoder().decode(data), StandardCharsets.UTF_8);
  }

  List<String> keysOfSecret(String name) {
    return List.copyOf(
        client.secrets().inNamespace(namespace).withName(name).get().getData().keySet());
  }

  /** Everything of Roost's and of Kubernetes' own that may tell of it: kind and name, and YAML. */
  Map<String, String> objects() {
    List<HasMetadata> all = new ArrayList<>();
    all.addAll(client.batch().v1().jobs().inNamespace(namespace).list().getItems());
    all.addAll(client.pods().inNamespace(namespace).list().getItems());
    all.addAll(client.secrets().inNamespace(namespace).list().getItems());
    all.addAll(client.configMaps().inNamespace(namespace).list().getItems());
    Map<String, String> texts = new TreeMap<>();
    for (HasMetadata one : all) {
      texts.put(one.getKind() + "/" + one.getMetadata().getName(), Serialization.asYaml(one));
    }
    client
        .v1()
        .events()
        .inNamespace(namespace)
        .list()
        .getItems()
        .forEach(
            event ->
                texts.put(
                    "Event/" + event.getMetadata().getName(), String.valueOf(event.getMessage())));
    return texts;
  }
}
