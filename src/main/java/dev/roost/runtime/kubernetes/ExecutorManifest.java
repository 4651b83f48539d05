package dev.roost.runtime.kubernetes;

import static dev.roost.runtime.kubernetes.Pods.disk;
import static dev.roost.runtime.kubernetes.Pods.memory;
import static dev.roost.runtime.kubernetes.Pods.mount;
import static dev.roost.runtime.kubernetes.Pods.readOnly;
import static dev.roost.runtime.kubernetes.Pods.resources;
import static dev.roost.runtime.kubernetes.Pods.variable;

import dev.roost.runtime.Runtime.ExecutorSpec;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The objects of an executor: a Job whose pod has the containers {@code agent} and {@code sidecar},
 * and the Secret with the sidecar's token. The containers share a volume in memory and the one with
 * the files of the agent's project, which are read-only for the agent's container. Pure.
 */
final class ExecutorManifest {
  static final String AGENT = "agent";
  static final String SIDECAR = "sidecar";

  private static final String LINK = "/run/roost";
  private static final String CODE = LINK + "/code";

  /** The files of an agent's project, in both containers: the sidecar writes, scripts read. */
  private static final String BUNDLE = "/bundle";

  private static final String TOKEN = "/run/secrets/roost";
  private static final String CA = "ca.crt";
  private static final String BUILT_PYTHON = "/opt/roost/env/bin/python";

  /** Cleared after each execution; the directories belong to this pod alone. */
  private static final String CLEAN = "/tmp:/dev/shm:/dev/mqueue";

  private static final long AGENT_USER = 10_001;
  private static final long SIDECAR_USER = 10_002;

  /** Memory of the runner and of the kernel, in addition to the script's. */
  private static final int RUNNER_MIB = 48;

  private static final int SIDECAR_MIB = 192;
  private static final int SIDECAR_REQUEST_MIB = 24;
  private static final int SIDECAR_DISK_MIB = 256;

  /** A week; executors that are kept warm end long before. */
  private static final long DEADLINE_SECONDS = 7 * 86_400L;

  private ExecutorManifest() {}

  /**
   * @param boot the program that waits for the runner's code and then runs it
   */
  static Job job(PodSettings settings, ExecutorSpec spec, String boot) {
    Map<String, String> labels =
        new HashMap<>(ObjectNames.labels(settings.instance(), ObjectNames.EXECUTOR));
    labels.put(ObjectNames.EXECUTOR_ID, spec.executorId());
    putKnown(labels, ObjectNames.AGENT_ID, spec.labels().get("agent-id"));
    putKnown(labels, ObjectNames.POOL, spec.labels().get("pool"));
    if (!spec.egress().everything()) {
      labels.put(ObjectNames.EGRESS, ObjectNames.LIMITED);
    }
    Map<String, String> annotations = new HashMap<>();
    putKnown(annotations, ObjectNames.AGENT_NAME, spec.labels().get("agent-name"));
    putKnown(annotations, ObjectNames.AGENT_REVISION, spec.labels().get("agent-revision"));
    annotations.put(ObjectNames.IMAGE_KEY, spec.imageKey());
    putKnown(annotations, ObjectNames.STARTED_FOR, spec.labels().get("started-for"));
    PodSpecBuilder pod =
        new PodSpecBuilder()
            .withTerminationGracePeriodSeconds(settings.graceSeconds() + 20)
            // The order matters: the agent's container waits for code from the sidecar, with a
            // timeout.
            .withContainers(sidecar(settings, spec), agent(settings, spec, boot))
            .withVolumes(
                memory("link", 16),
                disk("work", workMib(settings, spec)),
                disk("sidecar", SIDECAR_DISK_MIB),
                disk("bundle", settings.bundleMib()),
                new VolumeBuilder()
                    .withName("token")
                    .withNewSecret()
                    .withSecretName(ObjectNames.executor(spec.executorId()))
                    .withDefaultMode(0444) // only the sidecar's container mounts this volume
                    .endSecret()
                    .build());
    return Pods.job(
        settings,
        settings.profile(spec.profile()),
        ObjectNames.executor(spec.executorId()),
        labels,
        annotations,
        DEADLINE_SECONDS,
        pod);
  }

  private static void putKnown(Map<String, String> map, String name, String value) {
    if (value != null) {
      map.put(name, value);
    }
  }

  /**
   * The Secret is deleted with the Job.
   *
   * @param ca the authorities with which executors verify the control plane, in PEM, when {@link
   *     PodSettings#linkCa} names a file
   */
  static Secret token(PodSettings settings, ExecutorSpec spec, Job job, Optional<String> ca) {
    Map<String, String> data = new HashMap<>(Map.of("token", spec.token()));
    ca.ifPresent(text -> data.put(CA, text));
    return new SecretBuilder()
        .withNewMetadata()
        .withName(job.getMetadata().getName())
        .withNamespace(settings.namespace())
        .withLabels(job.getMetadata().getLabels())
        .addNewOwnerReference()
        .withApiVersion("batch/v1")
        .withKind("Job")
        .withName(job.getMetadata().getName())
        .withUid(job.getMetadata().getUid())
        .endOwnerReference()
        .endMetadata()
        .withType("Opaque")
        .withImmutable(true)
        .withStringData(data)
        .build();
  }

  private static Container agent(PodSettings settings, ExecutorSpec spec, String boot) {
    // Without requirements, a Build is the base image, which has only its own interpreter.
    boolean built = spec.image().startsWith(settings.pullRepository() + "@");
    int limitMib = spec.memoryMib() + RUNNER_MIB;
    return Pods.container(
        AGENT,
        spec.image(),
        AGENT_USER,
        List.of(built ? BUILT_PYTHON : "python3", "-I", "-B", "-c", boot),
        List.of(CODE, "runner", "--directory", "/work", "--sockets", LINK, "--clean", CLEAN),
        List.of(variable("HOME", "/tmp")),
        List.of(
            readOnly("link", LINK),
            readOnly("bundle", BUNDLE),
            new VolumeMountBuilder(mount("work", "/work")).withSubPath("work").build(),
            new VolumeMountBuilder(mount("work", "/tmp")).withSubPath("tmp").build()),
        Pods.resources(
            resources(
                spec.cpu(),
                spec.cpu() * settings.cpuRequestRatio(),
                limitMib,
                limitMib * settings.memoryRequestRatio(),
                settings.diskMib() + 128),
            settings.profile(spec.profile())));
  }

  private static int workMib(PodSettings settings, ExecutorSpec spec) {
    Integer limit = settings.profile(spec.profile()).ephemeralStorage().limitMib();
    return limit == null ? settings.diskMib() + 64 : limit;
  }

  private static Container sidecar(PodSettings settings, ExecutorSpec spec) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--url",
                settings.executorUrl(),
                "--executor",
                spec.executorId(),
                "--token-file",
                TOKEN + "/token",
                "--directory",
                "/tmp/roost",
                "--sockets",
                LINK,
                "--publish-code",
                CODE,
                "--bundle",
                BUNDLE + "/files"));
    if (settings.linkCa().isPresent()) {
      arguments.addAll(List.of("--ca-file", TOKEN + "/" + CA));
    }
    return Pods.container(
        SIDECAR,
        settings.executorImage(),
        SIDECAR_USER,
        List.of(),
        arguments,
        List.of(),
        List.of(
            mount("link", LINK),
            mount("sidecar", "/tmp"),
            mount("bundle", BUNDLE),
            readOnly("token", TOKEN)),
        resources(
            1,
            0.05 * settings.cpuRequestRatio(),
            SIDECAR_MIB,
            SIDECAR_REQUEST_MIB,
            SIDECAR_DISK_MIB + settings.bundleMib() + 64));
  }
}
