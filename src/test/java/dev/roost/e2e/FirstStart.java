package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a first start leaves. Unpacking PostgreSQL, creating the database and migrating it, looking
 * for interpreters, compiling Roost's own Python for each of them, and loading classes are most of
 * a start's work: tests that aren't about it start on a copy of its data directory, with its
 * archive of classes.
 */
final class FirstStart {
  private static final Path DIRECTORY = Path.of("target", "e2e-data").toAbsolutePath();

  /** Of uv's cache only what it knows about interpreters: tests build with an empty one. */
  private static final List<String> KEPT =
      List.of(
          "api_key",
          "database",
          "database.password",
          "postgres-*",
          "lib",
          "cache/uv/interpreter-*");

  /** Requests that change nothing: what serves them belongs into the archive. */
  private static final List<String> READ =
      List.of("/v1/agents", "/v1/executor-jobs", "/v1/schedules", "/v1/datastore");

  private FirstStart() {}

  /** Copies its data into a directory that doesn't exist yet. */
  static void copyTo(Path data) {
    run("cp -a " + kept().resolve("data") + " " + data);
  }

  /**
   * Java's options for using its archive of classes: none while there isn't one. An archive that
   * Java can't use is ignored; nothing about it belongs into the output that tests look at.
   */
  static List<String> archiveOptions() {
    Path archive = directory().resolve("classes.jsa");
    return Files.exists(archive)
        ? List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds*=off")
        : List.of();
  }

  /**
   * Packaging writes the jar anew and may have added migrations; a Java machine reads only its own
   * archives.
   */
  private static Path directory() {
    try {
      long packaged = Files.getLastModifiedTime(RoostProcess.JAR).toMillis();
      return DIRECTORY.resolve(packaged + "-java-" + Runtime.version());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The lock is for the other Java machines of this suite, which runs its lanes beside each other.
   */
  private static synchronized Path kept() {
    Path kept = directory();
    if (Files.isDirectory(kept)) {
      return kept;
    }
    try {
      Files.createDirectories(DIRECTORY);
      try (FileChannel file =
              FileChannel.open(
                  DIRECTORY.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = file.lock()) {
        if (!Files.isDirectory(kept)) {
          make(kept);
        }
      }
      return kept;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void make(Path kept) throws IOException {
    Path draft = DIRECTORY.resolve(".new");
    Path data = draft.resolve("data");
    run("rm -rf " + draft + " && mkdir -p " + draft + " && mkdir -m 700 " + data);
    try (RoostProcess roost = RoostProcess.prepared("ROOST_RUNTIME", "local")) {
      roost.javaOptions("-XX:ArchiveClassesAtExit=" + draft.resolve("classes.jsa"));
      roost.launch();
      roost.awaitReady();
      READ.forEach(path -> assertEquals(200, roost.client().get(path).status(), path));
      awaitCompiled(roost);
      UvCopy.keep(roost.data());
      roost.terminate();
      run(
          "cd "
              + roost.data()
              + " && for f in "
              + String.join(" ", KEPT)
              + "; do mkdir -p "
              + data
              + "/$(dirname $f); mv $f "
              + data
              + "/$f || exit; done");
    }
    Files.move(draft, kept);
  }

  /** It goes on when the server is ready already. */
  private static void awaitCompiled(RoostProcess roost) {
    int interpreters =
        roost.client().get("/v1/runtime").expect(200).json().path("python_versions").size();
    Eventually.until(
        "Roost's Python is compiled for all interpreters",
        () -> {
          try (Stream<Path> files = Files.walk(roost.data().resolve("lib"), 2)) {
            return interpreters
                == files.filter(path -> path.toString().endsWith(".compiled")).count();
          }
        });
  }

  private static void run(String command) {
    try {
      Process process = new ProcessBuilder("sh", "-ec", command).inheritIO().start();
      if (process.waitFor() != 0) {
        throw new AssertionError("failed: " + command);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
