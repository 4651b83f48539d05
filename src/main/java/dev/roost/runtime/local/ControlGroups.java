package dev.roost.runtime.local;

import dev.roost.config.RoostConfig;
import dev.roost.runtime.Runtime.ProcessLimit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A kernel control group for each executor and each build. The group limits the number of processes
 * and threads, which nothing else does for processes of root, and it lists all descendants, even
 * detached ones.
 *
 * <p>Groups are children of Roost's own group, so that limits of that group apply to them too.
 * Their names contain an identifier of the data directory, because several servers may share a
 * group.
 */
final class ControlGroups {
  private static final Duration PROBE_LIMIT = Duration.ofSeconds(10);
  private static final Duration KILL_LIMIT = Duration.ofSeconds(5);
  private static final int MOST_MOVES = 20;

  /** Joins the group before the program starts, so that no process of the program is outside. */
  private static final String JOIN = "echo 0 > \"$0\" && exec \"$@\"";

  private final Path parent;
  private final String prefix;
  private final ProcessLimit view;

  private ControlGroups(Path parent, String prefix, ProcessLimit view) {
    this.parent = parent;
    this.prefix = prefix;
    this.view = view;
  }

  /** Creates a group as a test to find out whether groups can be created. */
  static ControlGroups find(RoostConfig config, DataDirectory data) throws StartFailed {
    try {
      ControlGroupTree tree =
          ControlGroupTree.of(
              Files.readString(Path.of("/proc/self/mountinfo")),
              Files.readString(Path.of("/proc/self/cgroup")));
      return in(tree, config.local().maxProcesses(), data);
    } catch (IOException e) {
      return none(e);
    }
  }

  static ControlGroups in(ControlGroupTree tree, int maxProcesses, DataDirectory data)
      throws StartFailed {
    String prefix = prefix(data);
    try {
      if (tree.unified()) {
        enableChildGroups(tree.directory(), prefix);
      }
      ControlGroups groups =
          new ControlGroups(
              tree.directory(), prefix, new ProcessLimit("cgroup", maxProcesses, null));
      groups.tryOut();
      return groups;
    } catch (IOException e) {
      return none(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartFailed("the start was interrupted", e);
    }
  }

  /** For machines where no group can be created. */
  static ControlGroups none(Exception why) {
    String message =
        "No control group can be created for executors and builds: %s.".formatted(reason(why));
    return new ControlGroups(null, null, new ProcessLimit("none", null, message));
  }

  private static String reason(Exception why) {
    if (why instanceof AccessDeniedException) {
      return why.getMessage() + ": permission denied";
    }
    return why instanceof NoSuchFileException ? "no " + why.getMessage() : why.getMessage();
  }

  ProcessLimit view() {
    return view;
  }

  /**
   * Creates a job's group.
   *
   * @return the file to which a process writes 0 to join the group; empty where there are no groups
   */
  Optional<Path> make(String job) throws IOException {
    if (parent == null) {
      return Optional.empty();
    }
    Path group = Files.createDirectories(group(job));
    write(group.resolve("pids.max"), Integer.toString(view.maxProcesses()));
    return Optional.of(group.resolve("cgroup.procs"));
  }

  /** Creates a job's group and returns a command that runs the given one in the group. */
  List<String> command(String job, List<String> command) throws IOException {
    Optional<Path> file = make(job);
    if (file.isEmpty()) {
      return command;
    }
    List<String> joined = new ArrayList<>(List.of("/bin/sh", "-c", JOIN, file.get().toString()));
    joined.addAll(command);
    return joined;
  }

  /** Kills all processes in a job's group, and deletes the group. */
  void end(String job) throws IOException, InterruptedException {
    if (parent == null || !Files.isDirectory(group(job))) {
      return;
    }
    Path group = group(job);
    write(group.resolve("pids.max"), "0"); // Stops a fork bomb.
    long deadline = System.nanoTime() + KILL_LIMIT.toNanos();
    while (true) {
      for (long process : processes(group)) {
        ProcessHandle.of(process).ifPresent(ProcessHandle::destroyForcibly);
      }
      try {
        Files.deleteIfExists(group);
        return;
      } catch (IOException e) { // A process of the group has not ended yet.
        if (System.nanoTime() > deadline) {
          throw e;
        }
        Thread.sleep(5);
      }
    }
  }

  /** Ends the groups of jobs without a directory, which remain when the server is killed. */
  void removeLeftovers(Path... jobs) throws IOException, InterruptedException {
    if (parent == null) {
      return;
    }
    Set<String> left;
    try (Stream<Path> all = Files.list(parent)) {
      left =
          all.map(path -> path.getFileName().toString())
              .filter(name -> name.startsWith(prefix))
              .map(name -> name.substring(prefix.length()))
              .filter(name -> !name.isEmpty())
              .collect(Collectors.toSet());
    }
    for (String job : left) {
      if (Stream.of(jobs).noneMatch(directory -> Files.exists(directory.resolve(job)))) {
        end(job);
      }
    }
  }

  Path group(String job) {
    return parent.resolve(prefix + job);
  }

  private void tryOut() throws IOException, InterruptedException {
    String probe = "probe";
    try {
      Programs.Result result =
          Programs.run(command(probe, List.of("/bin/sh", "-c", ":")), Map.of(), PROBE_LIMIT);
      if (!result.succeeded()) {
        throw new IOException(result.errors().strip());
      }
    } finally {
      end(probe);
    }
  }

  /**
   * In version 2, a group can have processes or limit child groups, not both: Roost and its
   * database move to a child group.
   */
  private static void enableChildGroups(Path own, String prefix) throws IOException {
    Path enabled = own.resolve("cgroup.subtree_control");
    if (words(enabled).contains("pids")) {
      return;
    }
    if (!words(own.resolve("cgroup.controllers")).contains("pids")) {
      throw new IOException("the controller \"pids\" isn't delegated to " + own);
    }
    Path server = own.resolve(prefix); // No job has the empty name.
    if (!Files.isDirectory(server)) {
      Files.createDirectory(server);
    }
    move(own, server);
    try {
      write(enabled, "+pids");
    } catch (IOException e) {
      move(server, own);
      Files.deleteIfExists(server);
      throw new IOException("other processes are in " + own + " too", e);
    }
  }

  /**
   * Moves this process and its descendants; repeats this for processes that are forked meanwhile.
   */
  private static void move(Path from, Path to) throws IOException {
    for (int i = 0; i < MOST_MOVES; i++) {
      Set<Long> here = processes(from);
      List<Long> own =
          Stream.concat(Stream.of(ProcessHandle.current()), ProcessHandle.current().descendants())
              .map(ProcessHandle::pid)
              .filter(here::contains)
              .toList();
      if (own.isEmpty()) {
        return;
      }
      for (long process : own) {
        try {
          write(to.resolve("cgroup.procs"), Long.toString(process));
        } catch (IOException e) {
          if (ProcessHandle.of(process).isPresent()) {
            throw e;
          }
        }
      }
    }
  }

  /** Identifies this server by its data directory, which no other server uses at the same time. */
  static String prefix(DataDirectory data) {
    byte[] name = data.root().toString().getBytes(StandardCharsets.UTF_8);
    return "roost-" + UUID.nameUUIDFromBytes(name).toString().substring(0, 13) + "-";
  }

  private static Set<Long> processes(Path group) throws IOException {
    try (Stream<String> lines = Files.lines(group.resolve("cgroup.procs"))) {
      return lines.map(Long::parseLong).collect(Collectors.toSet());
    } catch (NoSuchFileException e) {
      return Set.of();
    }
  }

  private static List<String> words(Path file) throws IOException {
    return List.of(Files.readString(file).strip().split(" "));
  }

  /** These files must be written at once, and can't be truncated or created. */
  private static void write(Path file, String text) throws IOException {
    Files.writeString(file, text, StandardOpenOption.WRITE);
  }
}
