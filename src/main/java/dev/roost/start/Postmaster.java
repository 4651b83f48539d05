package dev.roost.start;

import dev.roost.runtime.local.LiveProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A PostgreSQL that runs on a data directory, as told by its {@code postmaster.pid} (lines:
 * process, directory, start, port, socket directory, address, shared memory, status).
 */
record Postmaster(LiveProcess process, int port) {
  private static final int PROCESS_LINE = 0;
  private static final int PORT_LINE = 3;
  private static final int STATUS_LINE = 7;

  /** The one that runs on this directory. The file alone proves nothing: it outlives a kill. */
  static Optional<Postmaster> running(Path directory) throws IOException {
    List<String> lines = lines(directory);
    if (lines.size() <= PORT_LINE) {
      return Optional.empty();
    }
    long pid = Long.parseLong(lines.get(PROCESS_LINE).strip());
    return LiveProcess.of(pid)
        .filter(process -> process.arguments().contains(directory.toString()))
        .map(process -> new Postmaster(process, Integer.parseInt(lines.get(PORT_LINE).strip())));
  }

  /**
   * Waits for one that has only just been started and is not in the file yet: a control plane that
   * was killed at that moment leaves it behind, and it is no one's rival once it can be seen.
   */
  static void awaitSettled(Path directory, Duration limit)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (running(directory).isEmpty() && isAtWork(directory) && System.nanoTime() < deadline) {
      Thread.sleep(5);
    }
  }

  /** The main process has the directory as an argument; the others have titles instead. */
  private static boolean isAtWork(Path directory) {
    return LiveProcess.workingIn(directory).stream()
        .anyMatch(process -> process.arguments().contains(directory.toString()));
  }

  boolean isRunBy(Path program) {
    return process.arguments().get(0).equals(program.toString());
  }

  /** Whether that process accepts connections on this directory's database. */
  static boolean isReady(Path directory, long pid) throws IOException {
    List<String> lines = lines(directory);
    return lines.size() > STATUS_LINE
        && lines.get(PROCESS_LINE).strip().equals(Long.toString(pid))
        && lines.get(STATUS_LINE).strip().equals("ready");
  }

  /**
   * Lets the next PostgreSQL take over from one that is no more.
   *
   * <p>PostgreSQL itself only asks whether the number in the file is some process's, and that is so
   * too when the number was given to another process, or when nobody has fetched the dead one's
   * exit status (in a container, often nobody ever does). It knows however that its parent is no
   * rival; so the file gets this process's number. The line on shared memory stays: it keeps
   * PostgreSQL from starting while processes of the old one are still at work. An empty file is
   * from one that was killed while it made the file, and would stop every later one.
   */
  static void release(Path directory) throws IOException {
    List<String> lines = new ArrayList<>(lines(directory));
    if (lines.isEmpty()) {
      Files.deleteIfExists(directory.resolve("postmaster.pid"));
    } else {
      lines.set(PROCESS_LINE, Long.toString(ProcessHandle.current().pid()));
      Files.write(directory.resolve("postmaster.pid"), lines);
    }
  }

  private static List<String> lines(Path directory) throws IOException {
    try {
      return Files.readAllLines(directory.resolve("postmaster.pid"));
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }
}
