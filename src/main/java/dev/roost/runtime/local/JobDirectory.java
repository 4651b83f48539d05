package dev.roost.runtime.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The directory of a build or an executor, and its process. The directory stores the process's
 * number and status, so that the next control plane knows them too.
 */
record JobDirectory(Path path) {
  private static final Duration KILL_LIMIT = Duration.ofSeconds(2);

  /** The names of all jobs with a directory in the parent directory. */
  static Set<String> in(Path parent) {
    try (Stream<Path> all = Files.list(parent)) {
      return all.map(directory -> directory.getFileName().toString())
          .filter(name -> !name.startsWith("."))
          .collect(Collectors.toSet());
    } catch (NoSuchFileException e) {
      return Set.of();
    } catch (IOException e) {
      throw new dev.roost.runtime.Runtime.RuntimeUnavailable(parent + " cannot be read", e);
    }
  }

  boolean exists() {
    return Files.isDirectory(path);
  }

  /** Creates the directory, for its owner only. */
  void create() throws IOException {
    Files.createDirectories(
        path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  /**
   * Starts the job's process, detached from this one, so that it survives when this one is killed.
   *
   * @param output file for standard output
   * @param errors file for standard error; may be the same file
   */
  void start(List<String> command, Map<String, String> environment, Path output, Path errors)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(path.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
            .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
    builder.redirectErrorStream(output.equals(errors));
    Files.deleteIfExists(path.resolve("status"));
    builder.environment().clear();
    builder.environment().putAll(environment);
    Process process = builder.start();
    remember(LiveProcess.of(process.pid()).orElse(new LiveProcess(process.pid(), 0, "-")));
    process.onExit().thenAccept(ended -> rememberStatus(ended.exitValue()));
  }

  /**
   * The process, ended or not; empty when none was started. When this process was killed before it
   * stored the job's process number, the process is found by its arguments.
   */
  Optional<LiveProcess> process() throws IOException {
    String remembered = PrivateFiles.read(path.resolve("pid"));
    if (remembered != null) {
      return LiveProcess.parse(remembered);
    }
    Optional<LiveProcess> found =
        LiveProcess.workingIn(path).stream().min(Comparator.comparingLong(LiveProcess::startTicks));
    if (found.isPresent()) {
      remember(found.get());
    }
    return found;
  }

  /** How the process has ended, for a person. */
  String ending() throws IOException {
    String status = PrivateFiles.read(path.resolve("status"));
    if (status == null) {
      return "its process has ended";
    }
    int number = Integer.parseInt(status);
    return number > 128
        ? "its process was ended by signal " + (number - 128)
        : "its process ended with status " + number;
  }

  /**
   * Ends the process and all its descendants: SIGTERM, then SIGKILL for the rest after the grace
   * period.
   */
  void end(Duration grace) throws IOException, InterruptedException {
    Optional<LiveProcess> process = process();
    if (process.isPresent()) {
      process.get().terminate();
      process.get().awaitEnd(grace);
    }
    long deadline = System.nanoTime() + KILL_LIMIT.toNanos();
    List<LiveProcess> left = tree();
    while (!left.isEmpty() && System.nanoTime() < deadline) {
      left.forEach(LiveProcess::kill);
      for (LiveProcess one : left) {
        one.awaitEnd(KILL_LIMIT);
      }
      left = tree(); // One of the processes may have started another meanwhile.
    }
  }

  /** Afterwards the job counts as not started. */
  void forgetProcess() throws IOException {
    Files.deleteIfExists(path.resolve("pid"));
    Files.deleteIfExists(path.resolve("status"));
  }

  void delete() throws IOException {
    PrivateFiles.deleteTree(path);
  }

  /** The processes that work in this directory, and all their descendants. */
  private List<LiveProcess> tree() {
    return LiveProcess.workingIn(path).stream()
        .flatMap(
            process ->
                Stream.concat(
                    Stream.of(process),
                    ProcessHandle.of(process.pid()).stream()
                        .flatMap(ProcessHandle::descendants)
                        .flatMap(handle -> LiveProcess.of(handle.pid()).stream())))
        .distinct()
        .toList();
  }

  private void remember(LiveProcess process) throws IOException {
    PrivateFiles.write(path.resolve("pid"), process.text() + "\n");
  }

  private void rememberStatus(int status) {
    try {
      if (exists()) {
        PrivateFiles.write(path.resolve("status"), status + "\n");
      }
    } catch (IOException e) {
      // The directory is being removed, so nobody needs the status.
    }
  }
}
