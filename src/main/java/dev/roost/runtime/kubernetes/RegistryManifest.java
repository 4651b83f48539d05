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
 * The Jobs that send requests to the registry: to remove an image, or to look up a tag. They have
 * the builders' labels, since network policies allow only builders to reach the registry. Pure.
 */
final class RegistryManifest {
  /** Commands of {@code roost_builder}, and names of containers. */
  static final String DELETE = "delete";

  static final String RESOLVE = "resolve";

  private static final long TIMEOUT_SECONDS = 120;

  /** Includes the time to get a node and to pull the image. */
  private static final long DEADLINE_SECONDS = 300;

  private RegistryManifest() {}

  /**
   * @param digest of the image to remove, as in {@code sha256:0f3a…}
   */
  static Job delete(PodSettings settings, String digest) {
    String image = settings.repository() + "@" + digest;
    return job(
        settings,
        ObjectNames.remover(digest),
        DELETE,
        List.of("--image=" + image),
        Map.of(ObjectNames.REMOVES, image));
  }

  /**
   * @param base the image to look up
   */
  static Job resolve(PodSettings settings, String base) {
    return job(
        settings,
        ObjectNames.lookup(base),
        RESOLVE,
        List.of("--base=" + base, "--platform=" + settings.platform()),
        Map.of(ObjectNames.LOOKS_UP, base));
  }

  private static Job job(
      PodSettings settings,
      String name,
      String command,
      List<String> what,
      Map<String, String> annotations) {
    List<String> arguments = new ArrayList<>(what);
    arguments.add("--timeout=" + TIMEOUT_SECONDS);
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
                    command,
                    arguments,
                    List.of(mount("tmp", "/tmp")),
                    resources(1, 0.01, 128, 32, 32)))
            .withVolumes(volumes);
    return Pods.job(
        settings,
        PodProfile.PLAIN,
        name,
        ObjectNames.labels(settings.instance(), ObjectNames.BUILDER),
        annotations,
        DEADLINE_SECONDS,
        pod);
  }
}
