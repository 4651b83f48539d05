package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** Programs of this machine that tests run. */
final class Command {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private Command() {}

  static boolean exists(String program) {
    return Arrays.stream(System.getenv("PATH").split(":"))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
  }

  /**
   * Leaves the test out when this machine doesn't have a program, and has the run say so; with
   * {@code -Dcluster.required=true} that is a failure.
   */
  static void require(String program, String what) {
    if (!exists(program)) {
      LeftOut.say(what + ", since " + program + " isn't on the PATH.");
    }
  }

  /** Runs it to its end and answers what it has printed; anything but success fails the test. */
  static String run(String... command) {
    return run(LIMIT, command);
  }

  static String run(Duration limit, String... command) {
    String name = String.join(" ", command);
    try {
      Path errors = Files.createTempFile("roost-e2e-", ".err");
      try {
        Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
          process.destroyForcibly();
          throw new AssertionError("no end of " + name);
        }
        assertEquals(0, process.exitValue(), () -> name + ":\n" + output + read(errors));
        return output;
      } finally {
        Files.deleteIfExists(errors);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(name, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
