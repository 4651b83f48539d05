package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Roost's images in a registry of the tests. Their tags tell the sources they are made of. */
final class TestImages {
  private static final String PREFIX = "roost-test";

  /** What each is made of, apart from its Containerfile. */
  private static final Map<String, List<Path>> SOURCES =
      Map.of(
          "builder",
              List.of(
                  Path.of("src/main/python/roost_builder"), Path.of("target/classes/python/sdk")),
          "executor", List.of(Path.of("src/main/python/roost_executor")),
          "control-plane", List.of(Path.of("target/quarkus-app")));

  private static final String MANIFESTS =
      "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json,"
          + " application/vnd.docker.distribution.manifest.v2+json";

  private final HttpClient http = HttpClient.newHttpClient();
  private final String registry;
  private final String registryFromHere;
  private final Map<String, String> names = new ConcurrentHashMap<>();

  /**
   * @param registry host and port, as pods and nodes know it
   * @param registryFromHere the same one as this machine knows it
   */
  TestImages(String registry, String registryFromHere) {
    this.registry = registry;
    this.registryFromHere = registryFromHere;
  }

  String registry() {
    return registry;
  }

  String registryFromHere() {
    return registryFromHere;
  }

  /** The full name of builder, executor or control-plane; built and pushed when it isn't there. */
  String image(String name) {
    String given =
        System.getenv("ROOST_TEST_" + name.replace('-', '_').toUpperCase(Locale.ROOT) + "_IMAGE");
    return given != null ? given : names.computeIfAbsent(name, this::make);
  }

  private String make(String name) {
    String tag = tag(name);
    String path = PREFIX + "/" + name;
    if (get(path + "/manifests/" + tag).statusCode() != 200) {
      build(name, tag);
    }
    return registry + "/" + path + ":" + tag;
  }

  private void build(String name, String tag) {
    try {
      Path log = Files.createDirectories(Path.of("target", "e2e-logs")).resolve(name + ".build");
      int status =
          new ProcessBuilder(
                  "images/build",
                  "--prefix",
                  registryFromHere + "/" + PREFIX,
                  "--tag",
                  tag,
                  "--push",
                  "--insecure",
                  name)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start()
              .waitFor();
      if (status != 0) {
        throw new AssertionError("images/build " + name + ":\n" + Files.readString(log));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** All tags of a repository, sorted. */
  List<String> tags(String repository) {
    HttpResponse<String> answer = get(repository + "/tags/list");
    List<String> tags = new ArrayList<>();
    if (answer.statusCode() == 200) {
      HttpAnswer.parse(answer.body()).path("tags").forEach(tag -> tags.add(tag.asText()));
    }
    return tags.stream().sorted().toList();
  }

  /** Removes an image by its digest, so that nothing finds it any more. */
  void remove(String repository, String tag) {
    String manifests = repository + "/manifests/";
    String digest =
        get(manifests + tag).headers().firstValue("Docker-Content-Digest").orElseThrow();
    HttpResponse<String> answer = send("DELETE", manifests + digest);
    if (answer.statusCode() != 202) {
      throw new AssertionError("DELETE " + manifests + digest + ": " + answer.body());
    }
  }

  private HttpResponse<String> get(String path) {
    return send("GET", path);
  }

  private HttpResponse<String> send(String method, String path) {
    URI address = URI.create("http://" + registryFromHere + "/v2/" + path);
    try {
      return http.send(
          HttpRequest.newBuilder(address)
              .method(method, BodyPublishers.noBody())
              .header("Accept", MANIFESTS)
              .build(),
          BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(method + " " + address, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static String tag(String name) {
    List<Path> roots = new ArrayList<>(SOURCES.get(name));
    roots.add(Path.of("images", name));
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Path root : roots) {
        try (Stream<Path> all = Files.walk(root)) {
          for (Path file : all.filter(TestImages::isSource).sorted().toList()) {
            digest.update(file.toString().getBytes(StandardCharsets.UTF_8));
            digest.update(Files.readAllBytes(file));
          }
        }
      }
      return HexFormat.of().formatHex(digest.digest()).substring(0, 16);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isSource(Path path) {
    return Files.isRegularFile(path) && !path.toString().contains("__pycache__");
  }
}
