package dev.roost.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;

/** An image that a build has pushed, as it is in the registry. */
final class PushedImage {
  private static final String MANIFESTS =
      "application/vnd.oci.image.manifest.v1+json,"
          + " application/vnd.docker.distribution.manifest.v2+json";

  private final HttpClient http = HttpClient.newHttpClient();
  private final String repository;
  private final String manifest;

  /**
   * @param image host, repository and digest
   */
  PushedImage(String image) {
    String path = image.substring(image.indexOf('/') + 1);
    repository = path.substring(0, path.indexOf('@'));
    manifest = text(get("manifests/" + path.substring(path.indexOf('@') + 1)));
  }

  String manifest() {
    return manifest;
  }

  String configuration() {
    return text(get("blobs/" + json().path("config").path("digest").asText()));
  }

  /** Digest of the layer with the dependencies: the last one. */
  String layerDigest() {
    JsonNode layers = json().path("layers");
    return layers.path(layers.size() - 1).path("digest").asText();
  }

  /** The content of that layer, a tar archive, each byte as one character. */
  String layer() {
    byte[] compressed = get("blobs/" + layerDigest());
    try (GZIPInputStream stream = new GZIPInputStream(new ByteArrayInputStream(compressed))) {
      return new String(stream.readAllBytes(), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private JsonNode json() {
    return HttpAnswer.parse(manifest);
  }

  private static String text(byte[] content) {
    return new String(content, StandardCharsets.UTF_8);
  }

  private byte[] get(String path) {
    String registry = TestCluster.get().registryFromHere();
    URI address = URI.create("http://" + registry + "/v2/" + repository + "/" + path);
    try {
      var answer =
          http.send(
              HttpRequest.newBuilder(address).header("Accept", MANIFESTS).build(),
              BodyHandlers.ofByteArray());
      if (answer.statusCode() != 200) {
        throw new AssertionError(address + ": " + answer.statusCode());
      }
      return answer.body();
    } catch (IOException e) {
      throw new UncheckedIOException("GET " + address, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
