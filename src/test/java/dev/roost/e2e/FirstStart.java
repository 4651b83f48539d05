package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What a first start leaves in its data directory. Unpacking PostgreSQL, creating the database and
 * migrating it is more than half of a start's work: tests that aren't about it start on a copy.
 */
final class FirstStart {
  private static final List<String> KEPT =
      List.of("api_key", "database", "database.password", "postgres-*");

  private FirstStart() {}

  /** Copies it into a data directory that doesn't exist yet. */
  static synchronized void copyTo(Path data) {
    try {
      // Packaging writes this file anew, and may have added migrations.
      long packaged = Files.getLastModifiedTime(RoostProcess.JAR).toMillis();
      Path kept = Path.of("target", "e2e-data", Long.toString(packaged)).toAbsolutePath();
      if (!Files.isDirectory(kept)) {
        make(kept);
      }
      run("cp -a " + kept + " " + data);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void make(Path kept) throws IOException {
    Path draft = Files.createDirectories(kept.resolveSibling(".new")).resolve("data");
    try (RoostProcess roost = RoostProcess.prepared("ROOST_RUNTIME", "local")) {
      roost.launch();
      roost.awaitReady();
      UvCopy.keep(roost.data());
      roost.terminate();
      run("rm -rf " + draft + " && mkdir -m 700 " + draft);
      for (String name : KEPT) {
        run(
            "cd "
                + roost.data()
                + " && for f in "
                + name
                + "; do mv $f "
                + draft
                + " || exit; done");
      }
    }
    Files.move(draft, kept);
  }

  private static void run(String command) throws IOException {
    Process process = new ProcessBuilder("sh", "-ec", command).inheritIO().start();
    try {
      if (process.waitFor() != 0) {
        throw new AssertionError("failed: " + command);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
