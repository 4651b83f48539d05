package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.k3s.K3sContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * A cluster of one node and its registry, in Docker; they go when the tests have ended.
 *
 * @param registry as pods and nodes reach it
 * @param registryFromHere the same registry by a name to which Docker pushes without TLS
 */
record K3s(Path kubeconfig, String registry, String registryFromHere) {
  private static final DockerImageName K3S = DockerImageName.parse("rancher/k3s:v1.34.1-k3s1");
  private static final DockerImageName REGISTRY = DockerImageName.parse("registry:3");
  private static final int REGISTRY_PORT = 5000;

  @SuppressWarnings("resource") // Testcontainers ends them with the Java machine
  static K3s start() {
    Network network = Network.newNetwork();
    GenericContainer<?> registry =
        new GenericContainer<>(REGISTRY)
            .withNetwork(network)
            .withExposedPorts(REGISTRY_PORT)
            .withEnv("REGISTRY_STORAGE_DELETE_ENABLED", "true");
    registry.start();
    // By address: pods can't ask Docker for names.
    String address =
        registry
                .getContainerInfo()
                .getNetworkSettings()
                .getNetworks()
                .values()
                .iterator()
                .next()
                .getIpAddress()
            + ":"
            + REGISTRY_PORT;
    K3sContainer k3s = new K3sContainer(K3S);
    k3s.withNetwork(network)
        .withCopyToContainer(
            Transferable.of(
                "mirrors:\n  \"%s\":\n    endpoint:\n      - \"http://%s\"\n"
                    .formatted(address, address)),
            "/etc/rancher/k3s/registries.yaml");
    k3s.start();
    try {
      Path kubeconfig = Files.createTempFile("k3s", ".yaml");
      Files.writeString(kubeconfig, k3s.getKubeConfigYaml());
      kubeconfig.toFile().deleteOnExit();
      return new K3s(kubeconfig, address, "localhost:" + registry.getMappedPort(REGISTRY_PORT));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
