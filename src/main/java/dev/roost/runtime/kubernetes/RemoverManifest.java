package dev.roost.runtime.kubernetes;

import static dev.roost.runtime.kubernetes.Pods.disk;
import static dev.roost.runtime.kubernetes.Pods.mount;
import static dev.roost.runtime.kubernetes.Pods.resources;

import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The Job that removes an image from the registry. It counts as a builder, since builders are what
 * network policies let through to the registry. Pure.
 */
final class RemoverManifest {
  /** Also the command of {@code roost_builder}. */
  static final String DELETE = "delete";

  private static final long TIMEOUT_SECONDS = 120;

  /** With the time that it takes to get a node and the image. */
  private static final long DEADLINE_SECONDS = 300;

  private RemoverManifest() {}

  /**
   * @param digest of the image, as in {@code sha256:0f3a…}
   */
  static Job job(PodSettings settings, String digest) {
    String image = settings.repository() + "@" + digest;
    List<String> arguments =
        new ArrayList<>(List.of("--image=" + image, "--timeout=" + TIMEOUT_SECONDS));
    if (settings.insecureRegistry()) {
      arguments.add("--insecure");
    }
    List<Volume> volumes = new ArrayList<>(List.of(disk("tmp", 16)));
    volumes.addAll(BuilderManifest.registryVolumes(settings));
    PodSpecBuilder pod =
        new PodSpecBuilder()
            .withTerminationGracePeriodSeconds(5L)
            .withContainers(
                BuilderManifest.withRegistry(
                    settings,
                    DELETE,
                    arguments,
                    List.of(mount("tmp", "/tmp")),
                    resources(1, 0.01, 128, 32, 32)))
            .withVolumes(volumes);
    return Pods.job(
        settings,
        PodProfile.PLAIN,
        Names.remover(digest),
        Names.labels(settings.instance(), Names.BUILDER),
        Map.of(Names.REMOVES, image),
        DEADLINE_SECONDS,
        pod);
  }
}
