package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime.Removal;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jboss.logging.Logger;

/**
 * Removes images from the registry. The registry's credentials are in the agents' namespace, where
 * the control plane can't read them, so a Job does it, which is named by the image's digest.
 */
final class ImageRemoval {
  private static final Logger LOG = Logger.getLogger(ImageRemoval.class);
  private static final String RESULT_START = "{\"outcome\": ";

  private final Cluster cluster;
  private final PodSettings settings;

  /** Whether it has been told what a registry would have to allow. */
  private final AtomicBoolean told = new AtomicBoolean();

  ImageRemoval(Cluster cluster, PodSettings settings) {
    this.cluster = cluster;
    this.settings = settings;
  }

  /**
   * Goes on with the removal of an image.
   *
   * @param image by digest, as nodes know it, or null; what is in another repository than that of
   *     builds was not made here, and stays
   */
  Removal remove(String image) {
    String own = settings.pullRepository() + "@";
    if (image == null || !image.startsWith(own)) {
      return Removal.DONE;
    }
    String digest = image.substring(own.length());
    String name = Names.remover(digest);
    Optional<Job> job = cluster.job(name);
    if (job.isEmpty()) {
      cluster.create(RemoverManifest.job(settings, digest));
      return Removal.GOING;
    }
    Pod pod = cluster.podOf(name).orElse(null);
    if (!(Diagnosis.of(job.get(), pod, null) instanceof Observation.Ended ended)) {
      return Removal.GOING;
    }
    String said =
        pod == null ? "" : cluster.lastLine(pod.getMetadata().getName(), RemoverManifest.DELETE, 1);
    cluster.deleteJob(name);
    return end(image, said, ended.message());
  }

  private Removal end(String image, String said, String otherwise) {
    if (!said.startsWith(RESULT_START)) {
      return Removal.failed(said.isEmpty() ? otherwise : otherwise + " It printed last: " + said);
    }
    try {
      Map<?, ?> result = Serialization.unmarshal(said, Map.class);
      if (!"succeeded".equals(result.get("outcome"))) {
        return Removal.failed(String.valueOf(result.get("message")));
      }
      if ("unsupported".equals(result.get("found")) && !told.getAndSet(true)) {
        LOG.warnf(
            "the registry lets nobody delete images, so %s stays in it, and others will: enable deletion there"
                + " (REGISTRY_STORAGE_DELETE_ENABLED=true of the CNCF's registry), or leave it to its own"
                + " retention. It says: %s",
            image, result.get("message"));
      } else if ("missing".equals(result.get("found"))) {
        LOG.infof("the image %s was no longer in the registry", image);
      }
      return Removal.DONE;
    } catch (KubernetesClientException | IllegalArgumentException e) {
      return Removal.failed("The remover's result is no JSON: " + said);
    }
  }
}
