package dev.roost.e2e;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The processes of this machine, as Linux shows them. */
final class Machine {
  private static final Path PROC = Path.of("/proc");

  private Machine() {}

  /** A process and the arguments that it was started with, spaces between them. */
  record Running(long pid, String command) implements Worker {
    @Override
    public boolean isAlive() {
      return Machine.isAlive(pid);
    }

    void signal(String name) {
      Machine.signal(pid, name);
    }

    @Override
    public void kill() {
      signal("KILL");
    }

    @Override
    public long peakMemoryMib() {
      return memoryMib(pid, "VmHWM");
    }
  }

  /** All processes whose arguments, working directory or environment name that directory. */
  static List<Running> processesOf(Path directory) {
    List<Running> found = new ArrayList<>();
    for (long pid : pids()) {
      String arguments = read(pid, "cmdline");
      String all = arguments + "\n" + link(pid, "cwd") + "\n" + read(pid, "environ");
      if (pid != ProcessHandle.current().pid()
          && all.contains(directory.toString())
          && isAlive(pid)) {
        found.add(new Running(pid, arguments.replace('\0', ' ').strip()));
      }
    }
    return found;
  }

  static boolean isAlive(long pid) {
    String[] fields = stat(pid);
    return fields.length > 0 && !"ZX".contains(fields[0]);
  }

  static long parent(long pid) {
    String[] fields = stat(pid);
    return fields.length == 0 ? 0 : Long.parseLong(fields[1]);
  }

  /**
   * Those of the processes that are templates. A runner has its template and, beside it, the
   * process of the current or the next execution, which has been forked later.
   */
  static List<Running> templates(List<Running> processes) {
    Map<Long, List<Running>> children =
        processes.stream().collect(Collectors.groupingBy(one -> parent(one.pid())));
    return processes.stream()
        .map(runner -> children.getOrDefault(runner.pid(), List.of()))
        .filter(forks -> forks.size() > 1)
        .map(forks -> Collections.min(forks, Comparator.comparingLong(one -> started(one.pid()))))
        .toList();
  }

  /** In clock ticks since the machine's start; that of a process that has ended is the latest. */
  private static long started(long pid) {
    String[] fields = stat(pid);
    return fields.length == 0 ? Long.MAX_VALUE : Long.parseLong(fields[19]);
  }

  /** What proc(5) describes, from the third field on; empty if the process has ended. */
  private static String[] stat(long pid) {
    String stat = read(pid, "stat");
    return stat.isEmpty() ? new String[0] : stat.substring(stat.lastIndexOf(')') + 2).split(" ");
  }

  static List<Long> children(long parent) {
    return pids().stream().filter(pid -> parent(pid) == parent).toList();
  }

  /**
   * @param name for example VmRSS or VmHWM
   * @return MiB; 0 when the process is gone
   */
  static long memoryMib(long pid, String name) {
    return memoryMib(read(pid, "status"), name);
  }

  /** The same, of a process's status as its system shows it. */
  static long memoryMib(String status, String name) {
    return status
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
        .findFirst()
        .orElse(0);
  }

  /** Sends a signal; a process that has ended meanwhile is no failure. */
  static void signal(long pid, String name) {
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(pid))
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  static List<Long> pids() {
    try (Stream<Path> all = Files.list(PROC)) {
      return all.map(path -> path.getFileName().toString())
          .filter(name -> name.chars().allMatch(Character::isDigit))
          .map(Long::parseLong)
          .toList();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String read(long pid, String file) {
    try {
      Path path = PROC.resolve(Long.toString(pid)).resolve(file);
      return new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return ""; // It has ended, or belongs to another user.
    }
  }

  private static String link(long pid, String file) {
    try {
      return Files.readSymbolicLink(PROC.resolve(Long.toString(pid)).resolve(file)).toString();
    } catch (IOException e) {
      return "";
    }
  }
}
