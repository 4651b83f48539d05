package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.JobStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** The chart's back-ups, and what the database is after a restore. */
@KubernetesOnly
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ChartBackupIT {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final String CLAIM = "backups";

  private ChartInstallation chart;
  private String agent;

  @BeforeAll
  void install() {
    chart = new ChartInstallation();
    makeVolume();
    chart.helm(
        "install",
        "--wait",
        "--timeout=4m",
        "--set=replicas=1,backup.enabled=true,backup.persistence.existingClaim=" + CLAIM);
    agent = chart.roost().agent("def main(request):\n    return request.payload", "name", "kept");
  }

  @AfterAll
  void remove() {
    if (chart != null) {
      onTheNode("rm -rf /volume/*");
      chart.close();
      kubernetes().persistentVolumes().withName(chart.namespace()).delete();
    }
  }

  @Test
  @Order(1)
  void aBackUpIsWritten() {
    String said = run("backup", true);
    assertTrue(said.matches("(?s)Wrote roost-\\d{8}T\\d{6}Z\\.dump, \\d+ bytes\n"), said);
  }

  @Test
  @Order(2)
  void aDatabaseInUseIsNotReplaced() {
    String said = run("restore", false);
    assertTrue(said.contains("Stop the control plane first"), said);
    assertEquals(200, chart.roost().get("/v1/agents/" + agent).status());
  }

  @Test
  @Order(3)
  void whatCameAfterTheBackUpIsGoneWithARestore() {
    String later = chart.roost().agent("def main():\n    return 1", "name", "later");
    controlPlanes(0);
    run("restore", true);
    controlPlanes(1);
    assertEquals(404, chart.roost().get("/v1/agents/" + later).status());
    assertWorks();
  }

  /** Its volume is the pod's, so another pod begins with an empty database. */
  @Test
  @Order(4)
  void aRestoreFillsAnEmptyDatabase() {
    controlPlanes(0);
    Pod before = database();
    kubernetes().resource(before).withGracePeriod(0).delete();
    Eventually.until(
        "another database",
        LIMIT,
        () -> {
          Pod now = database();
          return now != null
              && !now.getMetadata().getUid().equals(before.getMetadata().getUid())
              && now.getStatus().getContainerStatuses().stream().anyMatch(one -> one.getReady());
        });
    run("restore", true);
    controlPlanes(1);
    assertWorks();
  }

  /** The same key, the same agent, and it runs. */
  private void assertWorks() {
    Client roost = chart.roost();
    assertEquals("kept", roost.get("/v1/agents/" + agent).json().path("name").asText());
    assertEquals("succeeded", roost.execute(agent, "1").path("state").asText());
  }

  private void controlPlanes(int number) {
    var deployment =
        kubernetes().apps().deployments().inNamespace(chart.namespace()).withName("roost");
    deployment.scale(number);
    Eventually.until(
        number + " control planes",
        LIMIT,
        () ->
            kubernetes()
                        .pods()
                        .inNamespace(chart.namespace())
                        .withLabel("app.kubernetes.io/component", "control-plane")
                        .list()
                        .getItems()
                        .size()
                    == number
                && (number == 0
                    || Integer.valueOf(number)
                        .equals(deployment.get().getStatus().getReadyReplicas())));
    if (number > 0) {
      chart.roost(); // waits until it answers
    }
  }

  private Pod database() {
    return kubernetes().pods().inNamespace(chart.namespace()).withName("roost-postgresql-0").get();
  }

  /**
   * A Job of a CronJob, as `kubectl create job --from` makes it.
   *
   * @return what it has printed
   */
  private String run(String what, boolean succeeds) {
    String namespace = chart.namespace();
    var cronJob =
        kubernetes().batch().v1().cronjobs().inNamespace(namespace).withName("roost-" + what).get();
    var job =
        kubernetes()
            .resource(
                new JobBuilder()
                    .withNewMetadata()
                    .withGenerateName(what + "-")
                    .withNamespace(namespace)
                    .endMetadata()
                    .withSpec(cronJob.getSpec().getJobTemplate().getSpec())
                    .build())
            .create();
    var jobs = kubernetes().batch().v1().jobs().inNamespace(namespace);
    String name = job.getMetadata().getName();
    Eventually.until(
        what + " ends",
        LIMIT,
        () -> {
          JobStatus status = jobs.withName(name).get().getStatus();
          return status.getSucceeded() != null || status.getFailed() != null;
        });
    String said =
        kubernetes()
            .pods()
            .inNamespace(namespace)
            .withName(
                kubernetes()
                    .pods()
                    .inNamespace(namespace)
                    .withLabel("job-name", name)
                    .list()
                    .getItems()
                    .get(0)
                    .getMetadata()
                    .getName())
            .getLog();
    assertEquals(succeeds, jobs.withName(name).get().getStatus().getSucceeded() != null, said);
    return said;
  }

  /** A directory of the node that everyone can write to. */
  private void makeVolume() {
    String name = chart.namespace();
    onTheNode("chmod 777 /volume");
    Map<String, Quantity> size = Map.of("storage", new Quantity("1Gi"));
    kubernetes()
        .resource(
            new PersistentVolumeBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withCapacity(size)
                .withAccessModes("ReadWriteOnce")
                .withStorageClassName("")
                .withNewHostPath("/var/tmp/" + name, "DirectoryOrCreate")
                .endSpec()
                .build())
        .create();
    kubernetes()
        .resource(
            new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withName(CLAIM)
                .withNamespace(name)
                .endMetadata()
                .withNewSpec()
                .withAccessModes("ReadWriteOnce")
                .withStorageClassName("")
                .withVolumeName(name)
                .withNewResources()
                .withRequests(size)
                .endResources()
                .endSpec()
                .build())
        .create();
  }

  private void onTheNode(String command) {
    Pod pod =
        kubernetes()
            .resource(
                new PodBuilder()
                    .withNewMetadata()
                    .withGenerateName("roost-e2e-volume-")
                    .withNamespace("default")
                    .endMetadata()
                    .withNewSpec()
                    .withRestartPolicy("Never")
                    .addNewContainer()
                    .withName("volume")
                    .withImage(ChartInstallation.POSTGRES)
                    .withCommand("sh", "-c", command)
                    .addNewVolumeMount()
                    .withName("volume")
                    .withMountPath("/volume")
                    .endVolumeMount()
                    .endContainer()
                    .addNewVolume()
                    .withName("volume")
                    .withNewHostPath("/var/tmp/" + chart.namespace(), "DirectoryOrCreate")
                    .endVolume()
                    .endSpec()
                    .build())
            .create();
    try {
      Eventually.until(
          command,
          LIMIT,
          () -> "Succeeded".equals(kubernetes().resource(pod).get().getStatus().getPhase()));
    } finally {
      kubernetes().resource(pod).withGracePeriod(0).delete();
    }
  }

  private static KubernetesClient kubernetes() {
    return TestCluster.get().client();
  }
}
