package dev.roost.runtime.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * The common parts of all pods: they meet Pod Security's level "restricted" and have no API token.
 */
final class Pods {
  /** Leaves time to inspect a failed Job; the reconciler usually deletes Jobs much earlier. */
  private static final int TTL_SECONDS = 3_600;

  private static final String DISK = "ephemeral-storage";

  private Pods() {}

  /**
   * A Job that runs one pod once.
   *
   * @param profile the kind of pod
   * @param deadlineSeconds after which Kubernetes ends the pod
   */
  static Job job(
      PodSettings settings,
      PodProfile profile,
      String name,
      Map<String, String> labels,
      Map<String, String> annotations,
      long deadlineSeconds,
      PodSpecBuilder pod) {
    return new JobBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(settings.namespace())
        .withLabels(labels)
        .withAnnotations(annotations)
        .endMetadata()
        .withNewSpec()
        .withBackoffLimit(0)
        .withPodReplacementPolicy("Failed")
        .withActiveDeadlineSeconds(deadlineSeconds)
        .withTtlSecondsAfterFinished(TTL_SECONDS)
        .withNewTemplate()
        .withNewMetadata()
        .withLabels(labels)
        .withAnnotations(annotations)
        .endMetadata()
        .withSpec(
            pod.withRestartPolicy("Never")
                .withAutomountServiceAccountToken(false)
                .withServiceAccountName(settings.serviceAccount())
                .withEnableServiceLinks(false)
                .withImagePullSecrets(
                    settings.imagePullSecrets().stream().map(LocalObjectReference::new).toList())
                .withRuntimeClassName(profile.runtimeClassName())
                .withPriorityClassName(profile.priorityClassName())
                .withHostUsers(profile.hostUsers())
                .withNodeSelector(settings.nodeSelector())
                .addToNodeSelector(profile.nodeSelector())
                .withTolerations(settings.tolerations())
                .addAllToTolerations(profile.tolerations())
                .withNewSecurityContext()
                .withRunAsNonRoot(true)
                .withSeccompProfile(profile.seccompProfile())
                .endSecurityContext()
                .build())
        .endTemplate()
        .endSpec()
        .build();
  }

  /**
   * @param user the user and group of its processes
   */
  static Container container(
      String name,
      String image,
      long user,
      List<String> command,
      List<String> arguments,
      List<EnvVar> environment,
      List<VolumeMount> mounts,
      ResourceRequirements resources) {
    return new ContainerBuilder()
        .withName(name)
        .withImage(image)
        .withCommand(command)
        .withArgs(arguments)
        .withEnv(environment)
        .withVolumeMounts(mounts)
        .withResources(resources)
        .withSecurityContext(restricted(user))
        .build();
  }

  private static SecurityContext restricted(long user) {
    return new SecurityContextBuilder()
        .withRunAsUser(user)
        .withRunAsGroup(user)
        .withAllowPrivilegeEscalation(false)
        .withReadOnlyRootFilesystem(true)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .build();
  }

  static ResourceRequirements resources(
      double cpu, double cpuRequest, int memoryMib, double memoryRequestMib, int diskMib) {
    return new ResourceRequirementsBuilder()
        .addToRequests("cpu", cores(cpuRequest))
        .addToRequests("memory", mebibytes((int) Math.ceil(memoryRequestMib)))
        .addToRequests(DISK, mebibytes(Math.min(diskMib, 16)))
        .addToLimits("cpu", cores(cpu))
        .addToLimits("memory", mebibytes(memoryMib))
        .addToLimits(DISK, mebibytes(diskMib))
        .build();
  }

  /**
   * A profile's changes to the resources of a script's container.
   *
   * @param resources without the profile
   */
  static ResourceRequirements resources(ResourceRequirements resources, PodProfile profile) {
    ResourceRequirementsBuilder changed = new ResourceRequirementsBuilder(resources);
    profile
        .extendedResources()
        .forEach(
            (name, count) -> {
              // Kubernetes requires equal requests and limits of extended resources.
              changed.addToRequests(name, new Quantity(count.toString()));
              changed.addToLimits(name, new Quantity(count.toString()));
            });
    PodProfile.EphemeralStorage disk = profile.ephemeralStorage();
    if (disk.requestMib() != null) {
      changed.addToRequests(DISK, mebibytes(disk.requestMib()));
    }
    if (disk.limitMib() != null) {
      changed.addToLimits(DISK, mebibytes(disk.limitMib()));
    }
    if (profile.cpuLimit() != null) {
      Quantity limit = cores(profile.cpuLimit());
      Quantity request = resources.getRequests().get("cpu");
      boolean enough = limit.getNumericalAmount().compareTo(request.getNumericalAmount()) >= 0;
      changed.addToLimits("cpu", enough ? limit : request);
    }
    return changed.build();
  }

  static Volume disk(String name, int mebibytes) {
    return new VolumeBuilder()
        .withName(name)
        .withNewEmptyDir()
        .withSizeLimit(mebibytes(mebibytes))
        .endEmptyDir()
        .build();
  }

  static Volume memory(String name, int mebibytes) {
    return new VolumeBuilder()
        .withName(name)
        .withNewEmptyDir()
        .withMedium("Memory")
        .withSizeLimit(mebibytes(mebibytes))
        .endEmptyDir()
        .build();
  }

  static VolumeMount mount(String volume, String path) {
    return new VolumeMountBuilder().withName(volume).withMountPath(path).build();
  }

  static VolumeMount readOnly(String volume, String path) {
    return new VolumeMountBuilder(mount(volume, path)).withReadOnly(true).build();
  }

  static EnvVar variable(String name, String value) {
    return new EnvVar(name, value, null);
  }

  private static Quantity cores(double cores) {
    long thousandths = Math.max(1, Math.round(cores * 1000));
    return new Quantity(BigDecimal.valueOf(thousandths).toPlainString() + "m");
  }

  private static Quantity mebibytes(int mebibytes) {
    return new Quantity(mebibytes + "Mi");
  }
}
