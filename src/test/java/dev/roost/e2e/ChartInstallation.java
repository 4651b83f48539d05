package dev.roost.e2e;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;

/** The Helm chart in a namespace of its own, with the images of {@code images/}. */
final class ChartInstallation implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  static final String POSTGRES = "docker.io/library/postgres:17";

  private final TestCluster cluster = TestCluster.get();
  private final String namespace =
      "roost-e2e-" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);
  private final List<String> values;

  /** Makes the namespace; the chart is installed by {@link #helm}. */
  ChartInstallation() {
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
  }

  /** Of the release; that of its agents ends with {@code -agents}. */
  String namespace() {
    return namespace;
  }

  @Override
  public void close() {
    kubernetes().namespaces().withName(namespace).delete();
    kubernetes().namespaces().withName(namespace + "-agents").delete();
  }

  /** Its REST API, with the key that the chart has made, as soon as its Service leads there. */
  Client roost() {
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
    Client client = new Client("http://" + cluster.node() + ":" + port, key);
    // The node hears a moment later that a pod is ready.
    Eventually.until("the Service leads there", () -> client.get("/v1/runtime").status() == 200);
    return client;
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
        "--set=settings.roost\\.access-log=true",
        "--set-string=settings.roost\\.kubernetes\\.base-image=" + cluster.baseImage(),
        "--set=settings.roost\\.kubernetes\\.python-versions=3.11\\,3.13",
        "--set-string=settings.roost\\.kubernetes\\.cpu-request-ratio=0.02",
        "--set-string=settings.roost\\.kubernetes\\.memory-request-ratio=0.25");
  }

  /** The number of the user postgres, which differs between images of that name. */
  String postgresUser() {
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
      Eventually.until(
          "the user of " + POSTGRES,
          LIMIT,
          () -> "Succeeded".equals(kubernetes().resource(pod).get().getStatus().getPhase()));
      return kubernetes().pods().resource(pod).getLog().strip();
    } finally {
      kubernetes().resource(pod).withGracePeriod(0).delete();
    }
  }

  /**
   * A command on the release.
   *
   * @return what Helm says
   */
  String helm(String command, String... arguments) {
    List<String> all = new ArrayList<>(List.of("helm", command, "roost"));
    if (command.equals("install") || command.equals("upgrade")) {
      all.add("k8s/roost");
      all.addAll(values);
    }
    all.addAll(
        List.of("--namespace=" + namespace, "--kubeconfig=" + cluster.kubeconfig().toString()));
    all.addAll(List.of(arguments));
    return Command.run(LIMIT, all.toArray(String[]::new));
  }

  private KubernetesClient kubernetes() {
    return cluster.client();
  }
}
