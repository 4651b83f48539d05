package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.UUID;

/** A tag of a base image that names now one image, now another, as those of distributions do. */
final class MovingTag {
  private static final String MANIFESTS =
      "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json,"
          + " application/vnd.docker.distribution.manifest.list.v2+json,"
          + " application/vnd.docker.distribution.manifest.v2+json";

  private final HttpClient http = HttpClient.newHttpClient();
  private final String base;
  private final String tag = "moving-" + UUID.randomUUID();

  /**
   * @param base an image in the tests' registry, with {version} in the place of the Python's
   */
  MovingTag(String base) {
    this.base = base;
  }

  /** Whether the base images are in a registry that takes tags. */
  static boolean isPossible() {
    TestCluster cluster = TestCluster.get();
    return cluster.baseImage().startsWith(cluster.registry() + "/");
  }

  String image() {
    return base.substring(0, base.lastIndexOf(':') + 1) + tag;
  }

  /** From now on it names the base of that Python version. */
  void moveTo(String version) {
    String from = base.replace("{version}", version);
    HttpResponse<byte[]> manifest =
        send(
            HttpRequest.newBuilder(manifest(from.substring(from.lastIndexOf(':') + 1)))
                .header("Accept", MANIFESTS)
                .build());
    send(
        HttpRequest.newBuilder(manifest(tag))
            .header("Content-Type", manifest.headers().firstValue("Content-Type").orElseThrow())
            .PUT(BodyPublishers.ofByteArray(manifest.body()))
            .build());
  }

  private URI manifest(String reference) {
    String repository = base.substring(base.indexOf('/') + 1, base.lastIndexOf(':'));
    return URI.create(
        "http://%s/v2/%s/manifests/%s"
            .formatted(TestCluster.get().registryFromHere(), repository, reference));
  }

  private HttpResponse<byte[]> send(HttpRequest request) {
    try {
      HttpResponse<byte[]> answer = http.send(request, BodyHandlers.ofByteArray());
      if (answer.statusCode() / 100 != 2) {
        throw new AssertionError(request.uri() + ": " + answer.statusCode());
      }
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
