package dev.roost.runtime.local;

import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime.BuildOutput;
import dev.roost.runtime.Runtime.BuildSpec;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import dev.roost.runtime.SdkWheel;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/** Builds as processes that create virtual environments. */
final class LocalBuilds {
  private static final Duration GRACE = Duration.ofSeconds(1);
  private static final int MAX_READ_BYTES = 1 << 20;

  /** The list of packages takes a few hundred bytes for each, and their index 800 KB at most. */
  private static final int MAX_RESULT_BYTES = 4 << 20;

  private static final String RESULT_START = "{\"outcome\": ";
  private static final String START_BUILDER =
      "import sys; sys.path.append(sys.argv.pop(1)); from roost_builder.__main__ import main; sys.exit(main())";

  /** A prune that takes longer is killed; files that it has removed by then stay removed. */
  private static final Duration PRUNE_LIMIT = Duration.ofMinutes(1);

  private static final Logger LOG = Logger.getLogger(LocalBuilds.class);

  /** Held while a build starts, and while the cache is pruned. */
  private final ReentrantLock cache = new ReentrantLock();

  private final DataDirectory data;
  private final Path sources;
  private final Path uv;
  private final Optional<String> sandbox;
  private final ControlGroups groups;
  private final Map<String, String> environment;

  /**
   * @param sources the directory that contains the package {@code roost_builder}
   * @param sandbox the confinement of uv and of packages' build code; empty: none
   * @param groups limit the number of processes
   */
  LocalBuilds(
      DataDirectory data,
      Path sources,
      Path uv,
      Optional<String> sandbox,
      ControlGroups groups,
      Map<String, String> environment) {
    this.data = data;
    this.sources = sources;
    this.uv = uv;
    this.sandbox = sandbox;
    this.groups = groups;
    this.environment = environment;
  }

  /**
   * @throws RuntimeUnavailable while the cache is being pruned
   */
  void start(BuildSpec spec, Path python) throws IOException {
    if (!cache.tryLock()) {
      throw new RuntimeUnavailable("uv's cache is being pruned", null);
    }
    try {
      launch(spec, python);
    } finally {
      cache.unlock();
    }
  }

  private void launch(BuildSpec spec, Path python) throws IOException {
    JobDirectory job = job(spec.builderJobId());
    if (job.exists() && job.process().isPresent()) {
      return;
    }
    job.create();
    Path requirements = job.path().resolve("requirements.txt");
    Files.writeString(requirements, spec.requirements().text());
    List<String> command = new ArrayList<>();
    command.addAll(List.of(python.toString(), "-I", "-B", "-c", START_BUILDER, sources.toString()));
    command.addAll(List.of("--uv=" + uv, "--directory=" + job.path().resolve("tmp")));
    command.addAll(List.of("--requirements=" + requirements, "--target=venv"));
    command.add("--output=" + build(spec.imageKey()));
    command.add("--timeout=" + spec.timeoutSeconds());
    command.add("--wheel=" + sources.resolve(SdkWheel.own().path()));
    sandbox.ifPresent(option -> command.add("--sandbox=" + option));
    job.start(groups.command(spec.builderJobId(), command), environment, log(job), log(job));
  }

  Observation observe(String builderJobId) throws IOException {
    JobDirectory job = job(builderJobId);
    Optional<LiveProcess> process = job.exists() ? job.process() : Optional.empty();
    if (process.isEmpty()) {
      return new Observation.Absent();
    }
    if (process.get().isAlive()) {
      return new Observation.Running(null);
    }
    String result = lastLine(log(job));
    return result.startsWith(RESULT_START)
        ? new Observation.Ended(null, "The build has ended.", result)
        : new Observation.Ended(null, "The build has no result: " + job.ending() + ".", null);
  }

  /** All lines except for the result, which is the last one. */
  BuildOutput output(String builderJobId, long fromByte) throws IOException {
    Path log = log(job(builderJobId));
    if (!Files.exists(log)) {
      return new BuildOutput(List.of(), fromByte);
    }
    byte[] read;
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      read = new byte[(int) Math.max(0, Math.min(MAX_READ_BYTES, file.length() - fromByte))];
      file.seek(fromByte);
      file.readFully(read);
    }
    int end = read.length;
    while (end > 0 && read[end - 1] != '\n') {
      end--;
    }
    List<String> lines =
        new ArrayList<>(new String(read, 0, end, StandardCharsets.UTF_8).lines().toList());
    lines.removeIf(line -> line.startsWith(RESULT_START));
    return new BuildOutput(lines, fromByte + end);
  }

  Set<String> ids() {
    return JobDirectory.in(data.builderJobs());
  }

  JobDirectory job(String builderJobId) {
    return new JobDirectory(data.builderJobs().resolve(LocalRuntime.checked(builderJobId)));
  }

  void delete(String builderJobId) throws IOException, InterruptedException {
    JobDirectory job = job(builderJobId);
    if (job.exists()) {
      job.end(GRACE);
      groups.end(builderJobId);
      job.delete();
    }
  }

  /**
   * Ends a build without a result so that it counts as not started. A later start continues the
   * same log.
   */
  void interrupt(String builderJobId) throws IOException, InterruptedException {
    JobDirectory job = job(builderJobId);
    job.end(GRACE);
    groups.end(builderJobId);
    if (!lastLine(log(job)).startsWith(RESULT_START)) {
      job.forgetProcess();
      PrivateFiles.deleteTree(job.path().resolve("tmp"));
    }
  }

  /** Whether the Build and its interpreter exist: the interpreter may have been uninstalled. */
  boolean has(String imageKey) {
    return Files.isExecutable(python(imageKey));
  }

  /** The interpreter of the Build's virtual environment. */
  Path python(String imageKey) {
    return build(imageKey).resolve("bin").resolve("python");
  }

  Path build(String imageKey) {
    return data.builds().resolve(LocalRuntime.checked(imageKey));
  }

  /** Renames a Build, then removes its files, so that a partly removed Build is never used. */
  void deleteBuild(String imageKey) throws IOException {
    if (Files.exists(build(imageKey))) {
      Path gone = data.builds().resolve(".deleted-" + UUID.randomUUID());
      Files.move(build(imageKey), gone, StandardCopyOption.ATOMIC_MOVE);
      PrivateFiles.deleteTree(gone);
    }
  }

  /** Removes the leftovers of killed builds and interrupted deletions. */
  void removeLeftovers() throws IOException {
    for (String id : ids()) {
      JobDirectory job = job(id);
      if (!isAtWork(job)) {
        PrivateFiles.deleteTree(job.path().resolve("tmp"));
      }
    }
    if (Files.isDirectory(data.builds())) {
      try (var builds = Files.newDirectoryStream(data.builds(), ".deleted-*")) {
        for (Path gone : builds) {
          PrivateFiles.deleteTree(gone);
        }
      }
    }
  }

  /** The image keys of the Builds that have existed since that time or longer. */
  Set<String> since(Instant time) throws IOException {
    if (!Files.isDirectory(data.builds())) {
      return Set.of();
    }
    try (Stream<Path> all = Files.list(data.builds())) {
      return all.filter(build -> isDirectorySince(build, time))
          .map(build -> build.getFileName().toString())
          .collect(Collectors.toSet());
    }
  }

  private static boolean isDirectorySince(Path path, Instant time) {
    try {
      BasicFileAttributes attributes =
          Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return attributes.isDirectory() && !attributes.lastModifiedTime().toInstant().isAfter(time);
    } catch (IOException e) {
      return false; // The Build no longer exists.
    }
  }

  /**
   * Removes unused entries from uv's cache, unless a build runs, which might be using them.
   *
   * @return whether the cache was pruned
   */
  boolean pruneCache() throws IOException, InterruptedException {
    cache.lock();
    try {
      for (String id : ids()) {
        if (isAtWork(job(id))) {
          return false;
        }
      }
      Programs.Result result =
          Programs.run(List.of(uv.toString(), "cache", "prune"), environment, PRUNE_LIMIT);
      if (!result.succeeded()) {
        LOG.warnf("uv cache prune: status %d: %s", result.status(), result.errors().strip());
      }
      return result.succeeded();
    } finally {
      cache.unlock();
    }
  }

  private static boolean isAtWork(JobDirectory job) throws IOException {
    return job.process().filter(LiveProcess::isAlive).isPresent()
        || !LiveProcess.workingIn(job.path()).isEmpty();
  }

  private static Path log(JobDirectory job) {
    return job.path().resolve("log");
  }

  private static String lastLine(Path file) throws IOException {
    if (!Files.exists(file)) {
      return "";
    }
    try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "r")) {
      byte[] end = new byte[(int) Math.min(MAX_RESULT_BYTES, content.length())];
      content.seek(content.length() - end.length);
      content.readFully(end);
      String text = new String(end, StandardCharsets.UTF_8).stripTrailing();
      return text.substring(text.lastIndexOf('\n') + 1);
    }
  }
}
