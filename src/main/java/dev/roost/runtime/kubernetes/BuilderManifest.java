package dev.roost.runtime.kubernetes;

import static dev.roost.runtime.kubernetes.Pods.disk;
import static dev.roost.runtime.kubernetes.Pods.mount;
import static dev.roost.runtime.kubernetes.Pods.readOnly;
import static dev.roost.runtime.kubernetes.Pods.resources;
import static dev.roost.runtime.kubernetes.Pods.variable;

import dev.roost.runtime.Runtime.BuildSpec;
import dev.roost.runtime.SdkWheel;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The Job of a build. Source packages run their own code while they are built, so the container
 * that builds has no registry credentials, and the container with the credentials runs no such
 * code. The containers run one after the other and share a layer's file. Pure.
 */
final class BuilderManifest {
  static final String TOOLS = "tools";
  static final String BUILD = "build";
  static final String PUSH = "push";

  private static final String IMAGE_TOOLS = "/opt/roost/tools";
  private static final String START_BUILDER =
      "import sys; sys.path.append(sys.argv.pop(1)); from roost_builder.__main__ import main; sys.exit(main())";
  private static final long BUILD_USER = 10_001;
  private static final long PUSH_USER = 10_002;
  private static final int PUSH_MIB = 512;
  private static final long GRACE_SECONDS = 120;

  private BuilderManifest() {}

  static Job job(PodSettings settings, BuildSpec spec) {
    Map<String, String> labels =
        new HashMap<>(ObjectNames.labels(settings.instance(), ObjectNames.BUILDER));
    labels.put(ObjectNames.BUILDER_JOB_ID, spec.builderJobId());
    labels.put(ObjectNames.AGENT_ID, spec.agentId());
    PodSpecBuilder pod =
        new PodSpecBuilder()
            .withTerminationGracePeriodSeconds(5L)
            .withInitContainers(tools(settings), build(settings, spec))
            .withContainers(push(settings, spec))
            .withVolumes(volumes(settings));
    return Pods.job(
        settings,
        settings.profile(null),
        ObjectNames.builder(spec.builderJobId()),
        labels,
        Map.of(ObjectNames.IMAGE_KEY, spec.imageKey()),
        spec.timeoutSeconds() + GRACE_SECONDS,
        pod);
  }

  private static Container tools(PodSettings settings) {
    return Pods.container(
        TOOLS,
        settings.builderImage(),
        PUSH_USER,
        List.of("cp", "-r", IMAGE_TOOLS + "/.", "/tools/"),
        List.of(),
        List.of(),
        List.of(mount("tools", "/tools")),
        resources(1, 0.01, 64, 16, 16));
  }

  private static Container build(PodSettings settings, BuildSpec spec) {
    List<EnvVar> environment = new ArrayList<>();
    environment.add(variable("HOME", "/tmp"));
    environment.add(variable("ROOST_REQUIREMENTS", spec.requirements().text()));
    settings.indexUrl().ifPresent(url -> environment.add(variable("UV_DEFAULT_INDEX", url)));
    List<VolumeMount> mounts = new ArrayList<>();
    mounts.add(readOnly("tools", "/tools"));
    mounts.add(mount("tmp", "/tmp"));
    mounts.add(mount("environment", "/opt/roost"));
    mounts.add(mount("layer", "/layer"));
    if (settings.indexSecret().isPresent()) {
      environment.add(variable("NETRC", "/run/secrets/roost/index/netrc"));
      mounts.add(readOnly("index", "/run/secrets/roost/index"));
    }
    trust(settings, environment, mounts);
    return Pods.container(
        BUILD,
        spec.base(),
        BUILD_USER,
        List.of("python3", "-I", "-B", "-c", START_BUILDER, "/tools"),
        List.of(
            "--uv=/tools/uv",
            "--directory=/tmp/build",
            "--requirements-variable=ROOST_REQUIREMENTS",
            "--target=layer",
            "--prefix=/opt/roost/env",
            "--output=/layer",
            "--timeout=" + spec.timeoutSeconds(),
            "--wheel=/tools/" + SdkWheel.own().path()),
        environment,
        mounts,
        resources(
            settings.builderCpu(),
            settings.builderCpu() * settings.cpuRequestRatio(),
            settings.builderMemoryMib(),
            settings.builderMemoryMib() * settings.memoryRequestRatio(),
            settings.builderDiskMib()));
  }

  private static Container push(PodSettings settings, BuildSpec spec) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--base=" + spec.base(),
                "--repository=" + settings.repository(),
                "--pull-repository=" + settings.pullRepository(),
                "--key=" + spec.imageKey(),
                "--platform=" + settings.platform(),
                "--layer=/layer"));
    if (settings.insecureRegistry()) {
      arguments.add("--insecure");
    }
    return withRegistry(
        settings,
        PUSH,
        arguments,
        List.of(readOnly("layer", "/layer"), mount("push", "/tmp")),
        resources(1, 0.05, PUSH_MIB, 64, settings.builderDiskMib()));
  }

  /**
   * A container of the builder's image that accesses the registry and has the registry's
   * credentials. It must run no code of a package.
   *
   * @param name also the command of {@code roost_builder}
   */
  static Container withRegistry(
      PodSettings settings,
      String name,
      List<String> arguments,
      List<VolumeMount> own,
      ResourceRequirements resources) {
    List<EnvVar> environment = new ArrayList<>(List.of(variable("HOME", "/tmp")));
    List<VolumeMount> mounts = new ArrayList<>(own);
    if (settings.registrySecret().isPresent()) {
      environment.add(variable("DOCKER_CONFIG", "/run/secrets/roost/registry"));
      mounts.add(readOnly("registry", "/run/secrets/roost/registry"));
    }
    trust(settings, environment, mounts);
    return Pods.container(
        name,
        settings.builderImage(),
        PUSH_USER,
        List.of("python3", "-I", "-B", "-c", START_BUILDER, IMAGE_TOOLS, name),
        arguments,
        environment,
        mounts,
        resources);
  }

  private static void trust(
      PodSettings settings, List<EnvVar> environment, List<VolumeMount> mounts) {
    if (settings.caConfigMap().isPresent()) {
      environment.add(variable("ROOST_CA_FILE", "/run/secrets/roost/ca/ca.crt"));
      mounts.add(readOnly("ca", "/run/secrets/roost/ca"));
    }
  }

  private static List<Volume> volumes(PodSettings settings) {
    int diskMib = settings.builderDiskMib();
    List<Volume> volumes =
        new ArrayList<>(
            List.of(
                disk("tools", 512),
                disk("tmp", diskMib),
                disk("push", diskMib),
                disk("environment", diskMib),
                disk("layer", diskMib)));
    settings
        .indexSecret()
        .ifPresent(
            name ->
                volumes.add(
                    new VolumeBuilder()
                        .withName("index")
                        .withNewSecret()
                        .withSecretName(name)
                        .withDefaultMode(0444)
                        .endSecret()
                        .build()));
    volumes.addAll(registryVolumes(settings));
    return volumes;
  }

  /** The registry's credentials and the trusted authorities. */
  static List<Volume> registryVolumes(PodSettings settings) {
    List<Volume> volumes = new ArrayList<>();
    settings
        .registrySecret()
        .ifPresent(
            name ->
                volumes.add(
                    new VolumeBuilder()
                        .withName("registry")
                        .withNewSecret()
                        .withSecretName(name)
                        .withDefaultMode(0444)
                        .addNewItem()
                        .withKey(".dockerconfigjson")
                        .withPath("config.json")
                        .endItem()
                        .endSecret()
                        .build()));
    settings
        .caConfigMap()
        .ifPresent(
            name ->
                volumes.add(
                    new VolumeBuilder()
                        .withName("ca")
                        .withNewConfigMap()
                        .withName(name)
                        .endConfigMap()
                        .build()));
    return volumes;
  }
}
