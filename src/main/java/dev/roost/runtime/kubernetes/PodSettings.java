package dev.roost.runtime.kubernetes;

import dev.roost.config.RoostConfig;
import dev.roost.runtime.Egress.Destination;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The operator's settings for all pods, read and checked once.
 *
 * @param instance the installation that owns the objects
 * @param executorUrl the control plane's address for executors
 * @param repository where builds push
 * @param pullRepository the same repository as nodes address it
 * @param linkCa a file with the authorities with which executors verify the control plane
 * @param graceSeconds the time between SIGTERM and SIGKILL for a script
 * @param diskMib of an execution's working directory
 * @param bundleMib of the volume with the files of an agent's project
 */
record PodSettings(
    String instance,
    String namespace,
    String executorUrl,
    String repository,
    String pullRepository,
    boolean insecureRegistry,
    Optional<String> registrySecret,
    List<String> imagePullSecrets,
    Optional<String> indexUrl,
    Optional<String> indexSecret,
    Optional<String> caConfigMap,
    String builderImage,
    String executorImage,
    String platform,
    String serviceAccount,
    Map<String, String> nodeSelector,
    List<Toleration> tolerations,
    Map<String, PodProfile> profiles,
    EgressRules egress,
    Optional<Path> linkCa,
    int builderMemoryMib,
    double builderCpu,
    int builderDiskMib,
    double cpuRequestRatio,
    double memoryRequestRatio,
    long graceSeconds,
    int diskMib,
    int bundleMib) {
  private static final int MEBIBYTE = 1 << 20;

  /** Of the disk; each file may have less in its last one. */
  private static final int BLOCK_BYTES = 4 << 10;

  /** For directories, and for what is being written. */
  private static final int BUNDLE_SPARE_MIB = 32;

  private static final String NO_TOLERATIONS =
      "roost.kubernetes.tolerations is not a JSON list of tolerations: ";

  /**
   * @throws IllegalArgumentException with the name of the missing or wrong setting
   */
  static PodSettings of(RoostConfig config) {
    RoostConfig.Kubernetes kubernetes = config.kubernetes();
    String repository = required("roost.kubernetes.repository", kubernetes.repository());
    config
        .builds()
        .indexUrl()
        .filter(url -> url.matches("[a-z]+://[^/]*@.*"))
        .ifPresent(
            url -> {
              throw new IllegalArgumentException(
                  "roost.builds.index-url contains credentials, which would be readable in Jobs. Put the "
                      + "URL into a Secret, and set roost.kubernetes.index-secret to its name");
            });
    return new PodSettings(
        kubernetes.instance(),
        kubernetes.namespace(),
        executorUrl(config),
        repository,
        kubernetes.pullRepository().orElse(repository),
        kubernetes.insecureRegistry(),
        kubernetes.registrySecret(),
        kubernetes.imagePullSecrets().orElse(List.of()),
        config.builds().indexUrl(),
        kubernetes.indexSecret(),
        kubernetes.caConfigMap(),
        kubernetes.builderImage(),
        kubernetes.executorImage(),
        kubernetes.platform(),
        kubernetes.serviceAccount(),
        kubernetes.nodeSelector(),
        tolerations(kubernetes.tolerations().orElse("[]")),
        PodProfile.all(kubernetes.profiles().orElse("{}")),
        new EgressRules(
            kubernetes.networkPolicies(),
            kubernetes.egressExcept().orElse(List.of()),
            destinations(kubernetes.egressAllowed().orElse(List.of()))),
        config.link().ca(),
        positive("roost.kubernetes.builder-memory-mib", kubernetes.builderMemoryMib()),
        positive("roost.kubernetes.builder-cpu", kubernetes.builderCpu()),
        positive("roost.kubernetes.builder-disk-mib", kubernetes.builderDiskMib()),
        ratio("roost.kubernetes.cpu-request-ratio", kubernetes.cpuRequestRatio()),
        ratio("roost.kubernetes.memory-request-ratio", kubernetes.memoryRequestRatio()),
        config.executors().grace().toSeconds(),
        config.limits().workDirectoryMib(),
        bundleMib(config.limits()));
  }

  private static int bundleMib(RoostConfig.Limits limits) {
    long bytes = limits.bundleBytes() + (long) limits.bundleFiles() * BLOCK_BYTES;
    return (int) Math.min(bytes / MEBIBYTE + 1 + BUNDLE_SPARE_MIB, Integer.MAX_VALUE);
  }

  /**
   * @param name null: the default
   * @throws RuntimeUnavailable the profile is no longer offered; another one may isolate less
   */
  PodProfile profile(String name) {
    if (name == null) {
      return profiles.getOrDefault(PodProfile.DEFAULT, PodProfile.PLAIN);
    }
    PodProfile profile = profiles.get(name);
    if (profile == null) {
      throw new RuntimeUnavailable("the profile " + name + " isn't offered", null);
    }
    return profile;
  }

  private static List<Destination> destinations(List<String> texts) {
    try {
      return texts.stream().map(text -> Destination.of(text.strip(), true)).toList();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("roost.kubernetes.egress-allowed: " + e.getMessage(), e);
    }
  }

  private static String executorUrl(RoostConfig config) {
    String name = "roost.kubernetes.executor-url";
    String url = required(name, config.kubernetes().executorUrl());
    if (config.link().certificate().isPresent() && !url.startsWith("https://")) {
      throw new IllegalArgumentException(
          name + " must begin with https://, because roost.link.certificate is set");
    }
    return url;
  }

  private static String required(String name, Optional<String> value) {
    return value.orElseThrow(
        () -> new IllegalArgumentException(name + " is required with roost.runtime=kubernetes"));
  }

  private static <T extends Number> T positive(String name, T value) {
    if (!(value.doubleValue() > 0)) {
      throw new IllegalArgumentException(name + " must be more than 0");
    }
    return value;
  }

  private static double ratio(String name, double value) {
    if (!(value >= 0 && value <= 1)) {
      throw new IllegalArgumentException(name + " must be from 0 to 1");
    }
    return value;
  }

  private static List<Toleration> tolerations(String json) {
    try {
      List<Toleration> all = Arrays.asList(Serialization.unmarshal(json, Toleration[].class));
      if (all.stream().allMatch(one -> one != null && one.getAdditionalProperties().isEmpty())) {
        return List.copyOf(all);
      }
    } catch (KubernetesClientException | IllegalArgumentException e) {
      throw new IllegalArgumentException(NO_TOLERATIONS + json, e);
    }
    throw new IllegalArgumentException(NO_TOLERATIONS + json);
  }
}
