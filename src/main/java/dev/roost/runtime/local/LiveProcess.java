package dev.roost.runtime.local;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A process that can be distinguished from a later one with the same number, also by the next
 * control plane.
 *
 * <p>The start time is in clock ticks since the machine's start, as Linux counts them, because the
 * time of day that Java computes changes with the clock.
 *
 * @param startTicks field 22 of {@code /proc/PID/stat}
 * @param bootId identifies the machine's start from which the ticks count
 */
public record LiveProcess(long pid, long startTicks, String bootId) {
  private static final Path PROC = Path.of("/proc");
  private static final int STATE = 0;
  private static final int START_TICKS = 19;

  /** The process that has this number now; empty when there is none, or it has ended. */
  public static Optional<LiveProcess> of(long pid) {
    String[] fields = stat(pid);
    return fields == null
        ? Optional.empty()
        : Optional.of(new LiveProcess(pid, Long.parseLong(fields[START_TICKS]), currentBoot()));
  }

  public static Optional<LiveProcess> parse(String text) {
    String[] parts = text.strip().split(" ");
    return parts.length == 3
        ? Optional.of(new LiveProcess(Long.parseLong(parts[0]), Long.parseLong(parts[1]), parts[2]))
        : Optional.empty();
  }

  /** The text that {@link #parse} reads. */
  public String text() {
    return pid + " " + startTicks + " " + bootId;
  }

  public boolean isAlive() {
    return of(pid).filter(this::equals).isPresent();
  }

  public void terminate() {
    if (isAlive()) {
      ProcessHandle.of(pid).ifPresent(ProcessHandle::destroy);
    }
  }

  public void kill() {
    if (isAlive()) {
      ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  /**
   * @return whether the process has ended within the limit
   */
  public boolean awaitEnd(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (isAlive()) {
      if (System.nanoTime() > deadline) {
        return false;
      }
      Thread.sleep(5); // The process may be no child of this one, so no event reports its end.
    }
    return true;
  }

  /**
   * All processes that work in a directory: the directory or a file below it is among their
   * arguments, or is their working directory. This finds processes whose number was not stored.
   */
  public static List<LiveProcess> workingIn(Path directory) {
    List<LiveProcess> found = new ArrayList<>();
    try (Stream<Path> all = Files.list(PROC)) {
      all.map(path -> path.getFileName().toString())
          .filter(name -> Character.isDigit(name.charAt(0)))
          .filter(name -> worksIn(PROC.resolve(name), directory))
          .forEach(name -> of(Long.parseLong(name)).ifPresent(found::add));
    } catch (IOException e) {
      throw new IllegalStateException("/proc cannot be read", e);
    }
    found.removeIf(process -> process.pid() == ProcessHandle.current().pid());
    return found;
  }

  /** The command line of the process, its program first; empty when it has ended. */
  public List<String> arguments() {
    try {
      String all = Files.readString(process(pid, "cmdline"), StandardCharsets.ISO_8859_1);
      return List.of(all.split("\0"));
    } catch (IOException e) {
      return List.of();
    }
  }

  private static boolean worksIn(Path process, Path directory) {
    try {
      String arguments = Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
      String name =
          new String(
              directory.toString().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
      return arguments.contains(name + "\0")
          || arguments.contains(name + "/")
          || Files.readSymbolicLink(process.resolve("cwd")).startsWith(directory);
    } catch (IOException e) {
      return false; // The process has ended, or belongs to another user.
    }
  }

  /** The fields after the command, which is in parentheses and may contain any characters. */
  private static String[] stat(long pid) {
    try {
      String stat = Files.readString(process(pid, "stat"), StandardCharsets.ISO_8859_1);
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      boolean ended = fields[STATE].equals("Z") || fields[STATE].equals("X");
      return ended ? null : fields;
    } catch (IOException e) {
      return null;
    }
  }

  private static Path process(long pid, String file) {
    return PROC.resolve(Long.toString(pid)).resolve(file);
  }

  private static String currentBoot() {
    try {
      return Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip();
    } catch (IOException e) {
      return "-"; // Some sandboxes hide the boot id; the ticks alone must suffice then.
    }
  }
}
