package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Runtime.Removal;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jboss.logging.Logger;

/** Removes images from the registry, each by a Job that is named by the image's digest. */
final class ImageRemoval {
  private static final Logger LOG = Logger.getLogger(ImageRemoval.class);

  private final RegistryJob registry;
  private final PodSettings settings;

  /** Whether the warning about a registry that refuses deletion was logged. */
  private final AtomicBoolean reported = new AtomicBoolean();

  ImageRemoval(RegistryJob registry, PodSettings settings) {
    this.registry = registry;
    this.settings = settings;
  }

  /**
   * Starts or continues the removal of an image.
   *
   * @param image by digest, as nodes name it, or null; images outside of the builds' repository
   *     were not created here, and stay
   */
  Removal remove(String image) {
    String own = settings.pullRepository() + "@";
    if (image == null || !image.startsWith(own)) {
      return Removal.DONE;
    }
    String digest = image.substring(own.length());
    return registry
        .run(
            ObjectNames.remover(digest),
            RegistryManifest.DELETE,
            () -> RegistryManifest.delete(settings, digest))
        .map(answer -> answer.succeeded() ? done(image, answer.result()) : failed(answer))
        .orElse(Removal.GOING);
  }

  private static Removal failed(RegistryJob.Answer answer) {
    return Removal.failed(answer.message());
  }

  private Removal done(String image, Map<?, ?> result) {
    if ("unsupported".equals(result.get("found")) && !reported.getAndSet(true)) {
      LOG.warnf(
          "the registry does not allow deletion of images, so %s and other unused images are kept: "
              + "enable deletion in the registry (REGISTRY_STORAGE_DELETE_ENABLED=true for the CNCF "
              + "registry), or use its own retention. The registry's response: %s",
          image, result.get("message"));
    } else if ("missing".equals(result.get("found"))) {
      LOG.infof("the image %s no longer exists in the registry", image);
    }
    return Removal.DONE;
  }
}
