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
 * A PostgreSQL that runs on a data directory, according to its {@code postmaster.pid} (lines:
 * process, directory, start, port, socket directory, address, shared memory, status).
 */
record Postmaster(LiveProcess process, int port) {
  private static final int PROCESS_LINE = 0;
  private static final int PORT_LINE = 3;
  private static final int STATUS_LINE = 7;

  /**
   * The PostgreSQL that runs on this directory. The file alone proves nothing: it remains after a
   * kill.
   */
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
   * Waits for a PostgreSQL that has just been started and has not written the file yet: a control
   * plane that was killed at that moment leaves it behind. Once the file exists, {@link #running}
   * finds that PostgreSQL.
   */
  static void awaitSettled(Path directory, Duration limit)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (running(directory).isEmpty() && isAtWork(directory) && System.nanoTime() < deadline) {
      Thread.sleep(5);
    }
  }

  /** Only the main process has the directory as an argument; the others have titles instead. */
  private static boolean isAtWork(Path directory) {
    return LiveProcess.workingIn(directory).stream()
        .anyMatch(process -> process.arguments().contains(directory.toString()));
  }

  boolean isRunBy(Path program) {
    return process.arguments().get(0).equals(program.toString());
  }

  /** Whether the process accepts connections to this directory's database. */
  static boolean isReady(Path directory, long pid) throws IOException {
    List<String> lines = lines(directory);
    return lines.size() > STATUS_LINE
        && lines.get(PROCESS_LINE).strip().equals(Long.toString(pid))
        && lines.get(STATUS_LINE).strip().equals("ready");
  }

  /**
   * Lets a new PostgreSQL take over from one that has ended.
   *
   * <p>PostgreSQL only checks whether the process identifier in the file belongs to any process.
   * That is also true when the identifier was reused, or when the dead process is a zombie (in a
   * container, often nobody reaps it). PostgreSQL ignores its own parent, however; so this
   * process's identifier is written to the file. The line about shared memory stays: it prevents
   * PostgreSQL from starting while processes of the old one are still running. An empty file comes
   * from a PostgreSQL that was killed while it created the file, and would prevent every later
   * start.
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
