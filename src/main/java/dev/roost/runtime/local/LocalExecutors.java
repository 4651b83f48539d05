package dev.roost.runtime.local;

import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime.ExecutorOutput;
import dev.roost.runtime.Runtime.ExecutorSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Executors as processes: a sidecar, which starts its runner. */
final class LocalExecutors {
  private static final Duration GRACE = Duration.ofSeconds(2);
  private static final long MAX_ERROR_BYTES = 1 << 20;

  private final DataDirectory data;
  private final Path sources;
  private final Path sidecarPython;
  private final String url;
  private final LocalSandbox sandbox;
  private final ControlGroups groups;
  private final Set<String> starting = ConcurrentHashMap.newKeySet();

  /**
   * @param sources the directory that contains the package {@code roost_executor}
   * @param sidecarPython runs the sidecars, which need no packages
   * @param url of the control plane, for executors
   * @param sandbox the confinement of scripts
   * @param groups limit the number of processes
   */
  LocalExecutors(
      DataDirectory data,
      Path sources,
      Path sidecarPython,
      String url,
      LocalSandbox sandbox,
      ControlGroups groups) {
    this.data = data;
    this.sources = sources;
    this.sidecarPython = sidecarPython;
    this.url = url;
    this.sandbox = sandbox;
    this.groups = groups;
  }

  /**
   * @param build the virtual environment with the agent's packages
   */
  void start(ExecutorSpec spec, Path build) throws IOException {
    JobDirectory job = job(spec.executorId());
    if (!starting.add(spec.executorId())) {
      return;
    }
    try {
      if (!job.exists() || job.process().isEmpty()) {
        start(spec, build, job);
      }
    } finally {
      starting.remove(spec.executorId());
    }
  }

  private void start(ExecutorSpec spec, Path build, JobDirectory job) throws IOException {
    job.create();
    Path token = job.path().resolve("token");
    PrivateFiles.write(token, spec.token());
    show(job, spec.labels());
    List<String> command = new ArrayList<>();
    command.addAll(List.of(sidecarPython.toString(), "-I", "-B"));
    command.addAll(List.of(sources.resolve("roost_executor").toString(), "sidecar"));
    command.addAll(List.of("--url", url, "--executor", spec.executorId()));
    command.addAll(List.of("--token-file", token.toString()));
    command.addAll(List.of("--directory", job.path().toString()));
    command.addAll(List.of("--runner", build.resolve("bin").resolve("python").toString()));
    sandbox
        .option(spec.egress(), spec.memoryMib())
        .ifPresent(option -> command.addAll(List.of("--sandbox", option)));
    Map<String, String> environment = ChildEnvironment.forExecutor(System.getenv(), build);
    // The sidecar stays outside of the group, so that it can report a script that reaches the
    // limit.
    groups
        .make(spec.executorId())
        .ifPresent(file -> command.addAll(List.of("--group", file.toString())));
    job.start(command, environment, frames(job), errors(job).file());
  }

  /** Writes what the executor is for, for people. */
  void show(String executorId, Map<String, String> labels) throws IOException {
    JobDirectory job = job(executorId);
    if (job.exists()) {
      show(job, labels);
    }
  }

  private static void show(JobDirectory job, Map<String, String> labels) throws IOException {
    Files.writeString(job.path().resolve("labels"), labels(labels));
  }

  Observation observe(String executorId) throws IOException {
    JobDirectory job = job(executorId);
    if (starting.contains(executorId)) {
      return new Observation.Pending(null, null);
    }
    Optional<LiveProcess> process = job.exists() ? job.process() : Optional.empty();
    if (process.isEmpty()) {
      return new Observation.Absent();
    }
    if (process.get().isAlive()) {
      return new Observation.Running(null);
    }
    String output = errors(job).lastLines();
    String message =
        "The executor has ended: " + job.ending() + (output.isEmpty() ? "." : "\n" + output);
    return new Observation.Ended(null, message, null);
  }

  Set<String> ids() {
    return JobDirectory.in(data.executors());
  }

  ExecutorOutput output(String executorId) throws IOException {
    JobDirectory job = job(executorId);
    return new ExecutorOutput(open(frames(job)), open(job.path().resolve("agent.log")));
  }

  void delete(String executorId) throws IOException, InterruptedException {
    JobDirectory job = job(executorId);
    if (job.exists()) {
      end(executorId);
      job.delete();
    }
  }

  /** Ends the executor and keeps its files, which may contain output that has not arrived yet. */
  void end(String executorId) throws IOException, InterruptedException {
    job(executorId).end(GRACE);
    groups.end(executorId);
  }

  JobDirectory job(String executorId) {
    return new JobDirectory(data.executors().resolve(LocalRuntime.checked(executorId)));
  }

  private static InputStream open(Path file) throws IOException {
    return Files.exists(file) ? Files.newInputStream(file) : null;
  }

  private static Path frames(JobDirectory job) {
    return job.path().resolve("sidecar.log");
  }

  private static BoundedLog errors(JobDirectory job) {
    return new BoundedLog(job.path().resolve("sidecar.err"), MAX_ERROR_BYTES);
  }

  private static String labels(Map<String, String> labels) {
    return labels.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(label -> label.getKey() + ": " + label.getValue() + "\n")
        .collect(Collectors.joining());
  }
}
