package dev.roost.e2e;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;

/** The cluster's nodes, and what one namespace runs on them. */
final class ClusterNodes {
  private final KubernetesClient client;
  private final String namespace;

  ClusterNodes(PodWorkers pods) {
    client = pods.client();
    namespace = pods.namespace();
  }

  /** The nodes that accept pods and have some of the namespace's, by name. */
  List<String> inUse() {
    return client.nodes().list().getItems().stream()
        .filter(node -> !Boolean.TRUE.equals(node.getSpec().getUnschedulable()) && isReady(node))
        .map(node -> node.getMetadata().getName())
        .filter(node -> !pods(node).isEmpty())
        .sorted()
        .toList();
  }

  /** Cordons the node and evicts the namespace's pods from it, as {@code kubectl drain} does. */
  Drained drain(String node) {
    Drained drained = () -> cordon(node, false);
    try {
      cordon(node, true);
      Eventually.until("no pod is left on " + node, () -> evictAll(node));
      return drained;
    } catch (RuntimeException | Error e) {
      drained.close();
      throw e;
    }
  }

  /** Waits until the node controller reports the node as ready, or as not ready. */
  void awaitReady(String node, boolean ready) {
    Eventually.until(
        node + (ready ? " is ready" : " is not ready"),
        () -> isReady(client.nodes().withName(node).get()) == ready);
  }

  /** A node that accepts no pod until this is closed. */
  interface Drained extends AutoCloseable {
    @Override
    void close();
  }

  private void cordon(String node, boolean cordoned) {
    client
        .nodes()
        .withName(node)
        .edit(one -> new NodeBuilder(one).editSpec().withUnschedulable(cordoned).endSpec().build());
  }

  /** Evicts what has not been evicted, and answers whether nothing is left. */
  private boolean evictAll(String node) {
    List<Pod> left = pods(node);
    left.stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .forEach(this::evict);
    return left.isEmpty();
  }

  private void evict(Pod pod) {
    client.pods().inNamespace(namespace).withName(pod.getMetadata().getName()).evict();
  }

  private List<Pod> pods(String node) {
    return client.pods().inNamespace(namespace).withField("spec.nodeName", node).list().getItems();
  }

  private static boolean isReady(Node node) {
    return node.getStatus().getConditions().stream()
        .anyMatch(one -> one.getType().equals("Ready") && one.getStatus().equals("True"));
  }
}
