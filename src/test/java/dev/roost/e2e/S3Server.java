package dev.roost.e2e;

import dev.roost.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Moto as a process: a server of the S3 protocol with one bucket, in memory. */
final class S3Server implements AutoCloseable {
  private static final String BUCKET = "roost-files";
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  /** Its packages may have to be installed. */
  private static final Duration START = Duration.ofMinutes(5);

  private final int port = Ports.free();
  private Process process;

  S3Server() {
    start();
  }

  /** Starts it, with an empty bucket. */
  void start() {
    try {
      Path log = Files.createTempFile("roost-e2e-s3", ".log");
      process =
          new ProcessBuilder(
                  "python3",
                  "src/test/python/tools.py",
                  "--requirements",
                  "src/test/python/s3/requirements.txt",
                  "-m",
                  "moto.server",
                  "-H",
                  "127.0.0.1",
                  "-p",
                  Integer.toString(port))
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Eventually.until("the S3 server answers", START, this::isReady);
    request("PUT", BUCKET);
  }

  private boolean isReady() {
    if (!process.isAlive()) {
      throw new AssertionError("the S3 server ended with status " + process.exitValue());
    }
    try {
      request("GET", "");
      return true;
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  private String request(String method, String path) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + path))
              .method(method, BodyPublishers.noBody())
              .build();
      return HTTP.send(request, BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The list of the bucket's objects, as XML. */
  String objects() {
    return request("GET", BUCKET + "?list-type=2");
  }

  /** What a Roost needs to use it: names and values of environment variables. */
  String[] settings() {
    return new String[] {
      "ROOST_FILES_BUCKET", BUCKET,
      "ROOST_FILES_PREFIX", "roost/",
      "ROOST_FILES_ENDPOINT", "http://127.0.0.1:" + port,
      "ROOST_FILES_ACCESS_KEY", "key",
      "ROOST_FILES_SECRET_KEY", "secret"
    };
  }

  /** Ends it, with all objects. */
  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
