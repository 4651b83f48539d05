package dev.roost.e2e;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.testcontainers.DockerClientFactory;

/**
 * The Kubernetes cluster of the end-to-end tests, one for a whole run: the one at hand, when the
 * environment has {@code KUBECONFIG} and {@code REGISTRY} (host and port of a registry that this
 * machine and the nodes reach); otherwise K3s, where Docker runs; otherwise none, and the tests
 * that need one are left out. With {@code -Dcluster.required=true} that is a failure.
 *
 * <p>The images come from {@code images/build}, or from {@code ROOST_TEST_BUILDER_IMAGE} and the
 * like. {@code ROOST_TEST_BASE_IMAGE} replaces {@code docker.io/library/python:{version}-slim}.
 */
public final class TestCluster {
  /** Namespaces that are made for tests have it. */
  static final String LABEL = "roost/e2e";

  private static final String NONE =
      "There is no cluster: set KUBECONFIG and REGISTRY (a registry that this machine and the nodes"
          + " reach), or start Docker.";

  private static final Duration FORGOTTEN = Duration.ofHours(2);

  private final Path kubeconfig;
  private final TestImages images;
  private final KubernetesClient client;
  private final String host;

  private TestCluster(Path kubeconfig, TestImages images) {
    this.kubeconfig = kubeconfig;
    this.images = images;
    client =
        new KubernetesClientBuilder()
            .withConfig(Config.fromKubeconfig(kubeconfig.toFile()))
            .build();
    host = localAddress(client.nodes().list().getItems().get(0));
    removeForgotten();
  }

  /** Whether the tests of this run are about the Kubernetes runtime: {@code -De2e.runtime}. */
  static boolean isChosen() {
    String runtime = System.getProperty("e2e.runtime", "local");
    return switch (runtime) {
      case "local" -> false;
      case "kubernetes" -> true;
      default -> throw new IllegalArgumentException("e2e.runtime: " + runtime);
    };
  }

  /** The cluster of tests that {@link Condition} lets run. */
  public static TestCluster get() {
    return Holder.CLUSTER.orElseThrow(() -> new IllegalStateException(NONE));
  }

  /** Leaves out tests that need a cluster when there is none, and has the run say so at its end. */
  public static final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      if (!isChosen()) {
        return ConditionEvaluationResult.enabled("needs no cluster");
      }
      if (Holder.CLUSTER.isPresent()) {
        return ConditionEvaluationResult.enabled("there is a cluster");
      }
      LeftOut.note("the tests on Kubernetes. " + NONE);
      return ConditionEvaluationResult.disabled(NONE);
    }
  }

  /** The administrator's. */
  public Path kubeconfig() {
    return kubeconfig;
  }

  public KubernetesClient client() {
    return client;
  }

  /** This machine's address as pods reach it. */
  public String host() {
    return host;
  }

  /** A node's address as this machine reaches it: NodePorts answer there. */
  String node() {
    return address(client.nodes().list().getItems().get(0));
  }

  /** Host and port of a registry without TLS and credentials, as pods and nodes know it. */
  public String registry() {
    return images.registry();
  }

  /** The same one as this machine knows it. */
  String registryFromHere() {
    return images.registryFromHere();
  }

  /** The name of one of Roost's images, made of the sources as they are. */
  public String image(String name) {
    return images.image(name);
  }

  List<String> tags(String repository) {
    return images.tags(repository);
  }

  void removeImage(String repository, String tag) {
    images.remove(repository, tag);
  }

  /** With {version} in the place of the Python's. */
  public String baseImage() {
    return Optional.ofNullable(System.getenv("ROOST_TEST_BASE_IMAGE"))
        .orElse("docker.io/library/python:{version}-slim");
  }

  /** Of runs that were killed. */
  private void removeForgotten() {
    client.namespaces().withLabel(LABEL).list().getItems().stream()
        .filter(
            namespace ->
                Instant.parse(namespace.getMetadata().getCreationTimestamp())
                    .plus(FORGOTTEN)
                    .isBefore(Instant.now()))
        .forEach(namespace -> client.resource(namespace).delete());
  }

  /** The address from which this machine speaks to the node; what lives there can answer to it. */
  private static String localAddress(Node node) {
    String address = address(node);
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(InetAddress.getByName(address), 9)); // sends nothing
      return socket.getLocalAddress().getHostAddress();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String address(Node node) {
    return node.getStatus().getAddresses().stream()
        .filter(one -> one.getType().equals("InternalIP"))
        .findFirst()
        .orElseThrow()
        .getAddress();
  }

  /** Looked for when the first test wants it. */
  private static final class Holder {
    static final Optional<TestCluster> CLUSTER = find();

    private static Optional<TestCluster> find() {
      String kubeconfig = System.getenv("KUBECONFIG");
      String registry = System.getenv("REGISTRY");
      if (kubeconfig != null && registry != null) {
        return Optional.of(
            new TestCluster(Path.of(kubeconfig), new TestImages(registry, registry)));
      }
      if (hasDocker()) {
        K3s k3s = K3s.start();
        return Optional.of(
            new TestCluster(
                k3s.kubeconfig(), new TestImages(k3s.registry(), k3s.registryFromHere())));
      }
      return Optional.empty();
    }

    /** Its absence is no error. */
    private static boolean hasDocker() {
      Logger logger = Logger.getLogger("org.testcontainers");
      Level before = logger.getLevel();
      logger.setLevel(Level.OFF);
      try {
        return DockerClientFactory.instance().isDockerAvailable();
      } finally {
        logger.setLevel(before);
      }
    }
  }
}
