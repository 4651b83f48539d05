package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Processes of this machine that work below a directory. */
record LocalWorkers(Path home) implements Workers {
  @Override
  public Map<String, String> settings(int port) {
    return Map.of("PATH", UvCopy.DIRECTORY + ":" + System.getenv("PATH"));
  }

  /** All of them, control plane and database included. */
  List<Machine.Running> processes() {
    return Machine.processesOf(home);
  }

  /** Those whose arguments have that part. */
  List<Machine.Running> processes(String part) {
    return processes().stream().filter(one -> one.command().contains(part)).toList();
  }

  List<Machine.Running> sidecars() {
    return processes(" sidecar ");
  }

  /** The runners themselves, not what they have forked for executions. */
  List<Machine.Running> runners() {
    List<Machine.Running> all = processes(" runner ");
    List<Long> pids = all.stream().map(Machine.Running::pid).toList();
    // The parent of one that has ended meanwhile isn't known: it may be any.
    return all.stream()
        .filter(one -> !pids.contains(Machine.parent(one.pid())) && one.isAlive())
        .toList();
  }

  @Override
  public Machine.Running executorOf(String agentId, String part) {
    return Eventually.value(
        "a " + part + " of " + agentId,
        () ->
            (part.equals("runner") ? runners() : sidecars())
                .stream().filter(one -> worksFor(one, agentId)).findFirst());
  }

  @Override
  public Machine.Running scriptOf(String agentId) {
    long runner = executorOf(agentId, "runner").pid();
    return Eventually.value(
        "a script of " + agentId,
        () ->
            processes(" runner ").stream()
                .filter(one -> Machine.parent(one.pid()) == runner)
                .findFirst());
  }

  @Override
  public boolean hasPooledExecutor(String agentId) {
    return executors().stream()
        .map(LocalWorkers::labels)
        .anyMatch(labels -> labels.contains("agent-id: " + agentId) && labels.contains("pool: "));
  }

  @Override
  public int killPooled() {
    List<String> pooled =
        executors().stream()
            .filter(
                executor ->
                    labels(executor).contains("pool: ") && !labels(executor).contains("agent-id: "))
            .map(executor -> executor.getFileName().toString())
            .toList();
    return (int)
        sidecars().stream()
            .filter(one -> pooled.stream().anyMatch(one.command()::contains))
            .peek(Machine.Running::kill)
            .count();
  }

  private List<Path> executors() {
    try (Stream<Path> executors = Files.list(data().resolve("executors"))) {
      return executors.toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean worksFor(Machine.Running one, String agentId) {
    return executors().stream()
        .anyMatch(
            directory ->
                one.command().contains(directory.getFileName().toString())
                    && labels(directory).contains("agent-id: " + agentId));
  }

  private static String labels(Path executor) {
    try {
      return Files.readString(executor.resolve("labels"));
    } catch (NoSuchFileException e) {
      return ""; // It is being removed.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Machine.Running builderOf(String builderJobId) {
    return Eventually.value(
        "the builder of " + builderJobId,
        () ->
            processes("roost_builder").stream()
                .filter(one -> one.command().contains(builderJobId))
                .findFirst());
  }

  @Override
  public boolean isBuilding(String builderJobId) {
    return !processes(builderJobId).isEmpty();
  }

  @Override
  public List<String> builds() {
    try (Stream<Path> all = Files.list(data().resolve("builds"))) {
      return all.map(path -> path.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public int many() {
    return 50;
  }

  @Override
  public void close() {
    processes().forEach(one -> one.signal("KILL"));
    Eventually.until("nothing is left of it", () -> processes().isEmpty());
  }

  private Path data() {
    return home.resolve("data");
  }
}
