package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** A trial: database and registry are the chart's own, and agents reach neither. */
@KubernetesOnly
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ChartTrialIT {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final String REGISTRY =
      Optional.ofNullable(System.getenv("ROOST_TEST_REGISTRY_IMAGE"))
          .orElse("docker.io/library/registry:2");

  /** What a script gets from the registry, and from PostgreSQL when it gives no password. */
  private static final String SCRIPT =
      """
      import socket
      import struct
      import urllib.error
      import urllib.request

      def status(method, url):
          try:
              request = urllib.request.Request(url, method=method)
              return urllib.request.urlopen(request, timeout=20).status
          except urllib.error.HTTPError as error:
              return error.code
          except OSError as error:
              return type(error).__name__

      def database(host):
          \"\"\"What PostgreSQL answers to a user without a password: R 0 would let him in.\"\"\"
          try:
              with socket.create_connection((host, 5432), timeout=20) as connection:
                  text = b"user\\0roost\\0database\\0roost\\0\\0"
                  connection.sendall(struct.pack("!ii", len(text) + 8, 196608) + text)
                  kind, _, method = struct.unpack("!cii", connection.recv(9))
                  return [kind.decode(), method]
          except OSError as error:
              return type(error).__name__

      def main(request):
          registry, host = request.payload
          return {
              "root": status("GET", registry + "/"),
              "catalog": status("GET", registry + "/v2/_catalog"),
              "push": status("POST", registry + "/v2/agents/blobs/uploads/"),
              "database": database(host),
          }
      """;

  private ChartInstallation chart;

  @BeforeAll
  void start() {
    chart = new ChartInstallation();
  }

  @AfterAll
  void remove() {
    if (chart != null) {
      chart.close();
    }
  }

  private void helm(String command, String... arguments) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "--set=registry.enabled=true,registry.repository=,registry.nodePort=30517",
                "--set=registry.persistence.enabled=false,registry.image=" + REGISTRY,
                "--set=replicas=1"));
    all.addAll(List.of(arguments));
    chart.helm(command, all.toArray(String[]::new));
  }

  @Test
  @Order(1)
  void aCorrectedUserOfTheDatabaseHealsIt() {
    helm("install", "--set=postgresql.uid=12345");
    Eventually.until(
        "the database fails", LIMIT, () -> database().filter(this::hasFailed).isPresent());
    helm("upgrade", "--wait", "--timeout=4m");
    assertTrue(database().filter(this::hasFailed).isEmpty());
  }

  private Optional<Pod> database() {
    return Optional.ofNullable(
        TestCluster.get()
            .client()
            .pods()
            .inNamespace(chart.namespace())
            .withName("roost-postgresql-0")
            .get());
  }

  private boolean hasFailed(Pod pod) {
    List<ContainerStatus> containers = pod.getStatus().getContainerStatuses();
    return containers.stream().anyMatch(one -> one.getRestartCount() > 0);
  }

  /** A build pushes with the password, and the node pulls with it. */
  @Test
  @Order(2)
  void anAgentIsBuiltPushedAndPulled() {
    String said = chart.helm("test", "--timeout=4m");
    assertTrue(said.contains("Succeeded"), said);
  }

  /** Also where network policies aren't enforced, so that the script gets an answer. */
  @Test
  @Order(3)
  void anAgentCanNeitherPullNorPushNorReadTheDatabase() {
    Client roost = chart.roost();
    String agent = roost.agent(SCRIPT);
    String namespace = chart.namespace();
    String payload =
        "[\"http://roost-registry.%s.svc:5000\", \"roost-postgresql.%s.svc\"]"
            .formatted(namespace, namespace);
    JsonNode job = roost.execute(agent, payload);
    JsonNode value = job.path("execution").path("return_value");
    if (value.path("root").isTextual()) {
      return; // The policies keep it from an answer.
    }
    assertEquals(200, value.path("root").asInt(), job::toString);
    assertEquals(401, value.path("catalog").asInt(), job::toString);
    assertEquals(401, value.path("push").asInt(), job::toString);
    assertEquals("R", value.path("database").path(0).asText(), job::toString);
    assertTrue(value.path("database").path(1).asInt() > 0, job::toString);
  }
}
