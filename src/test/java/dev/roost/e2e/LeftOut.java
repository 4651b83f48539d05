package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.opentest4j.TestAbortedException;

/** Tests that this machine can't run: the run says so in its last lines, or fails. */
final class LeftOut {
  private static final Path FILE = Path.of("target", "left-out.txt");

  private LeftOut() {}

  /**
   * @param what of the tests, and why
   * @throws TestAbortedException always, unless the run must leave nothing out
   * @throws AssertionError with {@code -Dcluster.required=true}
   */
  static void say(String what) {
    note(what);
    throw new TestAbortedException("Left out: " + what);
  }

  /** The same without leaving the test. */
  static void note(String what) {
    if (Boolean.getBoolean("cluster.required")) {
      throw new AssertionError("Missing: " + what);
    }
    String line = "Left out: " + what + "\n";
    try {
      Files.createDirectories(FILE.getParent());
      if (!Files.exists(FILE) || !Files.readString(FILE).contains(line)) {
        Files.writeString(FILE, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
