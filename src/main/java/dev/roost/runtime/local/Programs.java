package dev.roost.runtime.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Finds programs and runs short ones. */
public final class Programs {
  private static final List<String> STANDARD_DIRECTORIES =
      List.of("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin");

  private Programs() {}

  /**
   * @param status 0 on success; 124 after a timeout
   * @param output standard output
   * @param errors standard error
   */
  public record Result(int status, String output, String errors) {
    public boolean succeeded() {
      return status == 0;
    }
  }

  /** The directories of a PATH, then the standard ones. */
  public static List<Path> searchPath(String path) {
    return Stream.concat(
            Stream.of(path == null ? new String[0] : path.split(":")),
            STANDARD_DIRECTORIES.stream())
        .filter(directory -> directory.startsWith("/"))
        .map(Path::of)
        .distinct()
        .toList();
  }

  public static Optional<Path> find(String name) {
    return searchPath(System.getenv("PATH")).stream()
        .map(directory -> directory.resolve(name))
        .filter(Programs::isProgram)
        .findFirst();
  }

  public static boolean isProgram(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }

  /**
   * Runs a program to its end, with standard input closed.
   *
   * @param environment added to this process's own
   */
  public static Result run(List<String> command, Map<String, String> environment, Duration limit)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("roost", ".out");
    Path errors = Files.createTempFile("roost", ".err");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectInput(Path.of("/dev/null").toFile())
              .redirectOutput(output.toFile())
              .redirectError(errors.toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      int status;
      try {
        status =
            process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS) ? process.exitValue() : 124;
      } finally {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
      return new Result(status, Files.readString(output), Files.readString(errors));
    } finally {
      Files.deleteIfExists(output);
      Files.deleteIfExists(errors);
    }
  }

  /** Whether this process is root's. */
  public static boolean isRoot() {
    try {
      return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (IOException | UnsupportedOperationException e) {
      return "root".equals(System.getProperty("user.name"));
    }
  }
}
