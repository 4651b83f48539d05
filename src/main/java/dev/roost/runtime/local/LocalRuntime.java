package dev.roost.runtime.local;

import dev.roost.config.RoostConfig;
import dev.roost.runtime.Egress;
import dev.roost.runtime.EgressScope;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.local.Interpreters.Interpreter;
import io.quarkus.runtime.ShutdownEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.Reception;
import jakarta.enterprise.inject.Typed;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * Builds and executors as processes on this machine. The processes are detached: when this process
 * is killed, they continue, and the next one finds them in the data directory. An orderly shutdown
 * ends them.
 */
@ApplicationScoped
@Typed(LocalRuntime.class)
public class LocalRuntime implements Runtime {
  private static final Logger LOG = Logger.getLogger(LocalRuntime.class);
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}");

  private static final int LAST = 5_000;

  private final Interpreters interpreters;
  private final LocalBuilds builds;
  private final LocalExecutors executors;
  private final LocalSandbox sandbox;
  private final ControlGroups groups;
  private final ProcessLimit processLimit;
  private final int maxExecutors;
  private volatile boolean closed;
  private final Set<String> ending = ConcurrentHashMap.newKeySet();
  private final ExecutorService background =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "local-runtime");
            thread.setDaemon(true);
            return thread;
          });

  public LocalRuntime(RoostConfig config) throws IOException, StartFailed {
    DataDirectory data = new DataDirectory(config.data());
    Path uv = UvProgram.find(data);
    interpreters = Interpreters.find(uv, data);
    Path sources = PythonSources.unpack(data);
    Interpreter newest = interpreters.get(interpreters.defaultVersion()).orElseThrow();
    LocalSandbox found = LocalSandbox.find(config, data, sources, newest.executable());
    groups = ControlGroups.find(config, data);
    processLimit = processLimit(groups.view(), found, config.local().maxProcesses());
    sandbox = processLimit.isOfUser() ? found.bounding(processLimit.maxProcesses()) : found;
    builds =
        new LocalBuilds(
            data,
            sources,
            uv,
            sandbox.option(Egress.ALL, 0),
            groups,
            ChildEnvironment.forBuild(System.getenv(), data.uvCache(), config.builds().indexUrl()));
    String url = executorUrl(config.host(), config.port());
    executors = new LocalExecutors(data, sources, newest.executable(), url, sandbox, groups);
    maxExecutors = config.local().maxExecutors();
    background.execute(() -> tidyUp(sources, data));
  }

  @Override
  public Description describe() {
    String platform = "linux-" + System.getProperty("os.arch").replace("amd64", "x86_64");
    return new Description(
        "local",
        interpreters.versions(),
        interpreters.defaultVersion(),
        platform,
        maxExecutors,
        List.of());
  }

  @Override
  public Sandbox sandbox() {
    return sandbox.view();
  }

  @Override
  public ProcessLimit processLimit() {
    return processLimit;
  }

  /**
   * Without control groups, a limit per user applies to confined processes, unless the user is
   * root.
   */
  private static ProcessLimit processLimit(ProcessLimit groups, LocalSandbox sandbox, int most) {
    if (!groups.isNone() || sandbox.view().isNone() || Programs.isRoot()) {
      return groups;
    }
    return new ProcessLimit(ProcessLimit.OF_USER, most, groups.message());
  }

  @Override
  public EgressScope egress() {
    return sandbox.egress();
  }

  @Override
  public Optional<String> refusal(Egress egress) {
    return sandbox.refusal(egress);
  }

  @Override
  public String baseIdentity(String pythonVersion) {
    return interpreter(pythonVersion).identity();
  }

  @Override
  public boolean buildsOn(String pythonVersion, String base) {
    return base.equals(baseIdentity(pythonVersion));
  }

  @Override
  public void startBuild(BuildSpec spec) {
    Path python = interpreter(spec.pythonVersion()).executable();
    refuseWhenClosed();
    attempt("the build cannot be started", () -> builds.start(spec, python));
  }

  @Override
  public Observation observeBuild(String builderJobId) {
    return call("the build cannot be observed", () -> builds.observe(builderJobId));
  }

  @Override
  public BuildOutput buildOutput(String builderJobId, long position) {
    return call("the build's log cannot be read", () -> builds.output(builderJobId, position));
  }

  @Override
  public void deleteBuilderJob(String builderJobId) {
    inBackground(builds.job(builderJobId), () -> builds.delete(builderJobId));
  }

  @Override
  public boolean hasBuild(String imageKey) {
    return builds.has(imageKey);
  }

  @Override
  public Removal deleteBuild(String imageKey, String image) {
    attempt("the build cannot be deleted", () -> builds.deleteBuild(imageKey));
    return Removal.DONE;
  }

  @Override
  public Set<String> builds(Instant since) {
    return call(
        "the builds cannot be listed",
        () ->
            builds.since(since).stream()
                .filter(name -> NAME.matcher(name).matches())
                .collect(Collectors.toSet()));
  }

  @Override
  public boolean tidyUp() {
    return call("uv's cache cannot be pruned", builds::pruneCache);
  }

  @Override
  public void startExecutor(ExecutorSpec spec) {
    refuseWhenClosed();
    attempt(
        "the executor cannot be started",
        () -> executors.start(spec, builds.build(spec.imageKey())));
  }

  @Override
  public Observation observeExecutor(String executorId) {
    return call("the executor cannot be observed", () -> executors.observe(executorId));
  }

  @Override
  public Set<String> executors() {
    return executors.ids();
  }

  @Override
  public ExecutorOutput executorOutput(String executorId) throws IOException {
    return executors.output(executorId);
  }

  /** Waits for the end, which takes up to two seconds when the process ignores SIGTERM. */
  @Override
  public boolean stopExecutor(String executorId) {
    attempt("the executor cannot be stopped", () -> executors.end(executorId));
    return true;
  }

  @Override
  public void showAgent(String executorId, Map<String, String> labels) {
    try {
      executors.show(executorId, labels);
    } catch (IOException e) {
      LOG.debugf("executor %s: its labels cannot be written: %s", executorId, e.getMessage());
    }
  }

  /** Returns at once; the executor is listed until it has ended and its files are removed. */
  @Override
  public void deleteExecutor(String executorId) {
    inBackground(executors.job(executorId), () -> executors.delete(executorId));
  }

  @Override
  public Set<String> builderJobs() {
    return builds.ids();
  }

  /** Runs after the reconcilers have stopped; they would restart builds and executors. */
  void onShutdown(
      @Observes(notifyObserver = Reception.IF_EXISTS) @Priority(LAST) ShutdownEvent event) {
    close();
  }

  /**
   * Ends all builds and executors in parallel. The executors' files stay, with output that has not
   * arrived yet; builds restart with the next server.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (String id : executors.ids()) {
      all.add(CompletableFuture.runAsync(quietly(() -> executors.end(id)), background));
    }
    for (String id : builds.ids()) {
      all.add(CompletableFuture.runAsync(quietly(() -> builds.interrupt(id)), background));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
    background.shutdownNow(); // The next start repeats an interrupted tidy-up.
  }

  /**
   * Rejects names that aren't plain file names, so that no path leads out of the data directory.
   */
  static String checked(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("not a name: " + name);
    }
    return name;
  }

  /**
   * The control plane's address for processes on this machine.
   *
   * @param host the address that the control plane listens on, possibly all addresses
   */
  public static String executorUrl(String host, int port) {
    String reachable =
        switch (host) {
          case "0.0.0.0", "::", "[::]", "localhost" -> "127.0.0.1";
          default -> host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host;
        };
    return "http://" + reachable + ":" + port;
  }

  private Interpreter interpreter(String version) {
    return interpreters
        .get(version)
        .orElseThrow(
            () ->
                new UnsupportedPython(
                    "Python %s is not installed on this machine; the versions are %s."
                        .formatted(version, String.join(", ", interpreters.versions()))));
  }

  private void refuseWhenClosed() {
    if (closed) {
      throw new RuntimeUnavailable("Roost is stopping", null);
    }
  }

  private void tidyUp(Path sources, DataDirectory data) {
    quietly(() -> groups.removeLeftovers(data.executors(), data.builderJobs())).run();
    quietly(builds::removeLeftovers).run();
    quietly(() -> PythonSources.removeUnused(sources)).run();
    for (Interpreter interpreter : interpreters.all()) {
      quietly(() -> PythonSources.compile(sources, interpreter.executable())).run();
    }
  }

  private void inBackground(JobDirectory job, Work work) {
    String name = job.path().getFileName().toString();
    if (!closed && job.exists() && ending.add(name)) {
      background.execute(
          () -> {
            quietly(work).run();
            ending.remove(name);
          });
    }
  }

  private static Runnable quietly(Work work) {
    return () -> {
      try {
        work.run();
      } catch (IOException | RuntimeException e) {
        LOG.warn("A directory could not be deleted", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    };
  }

  private static void attempt(String failure, Work work) {
    call(
        failure,
        () -> {
          work.run();
          return null;
        });
  }

  private static <T> T call(String failure, Call<T> call) {
    try {
      return call.result();
    } catch (IOException e) {
      throw new RuntimeUnavailable(failure + ": " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RuntimeUnavailable(failure + ": interrupted", e);
    }
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private interface Call<T> {
    T result() throws IOException, InterruptedException;
  }
}
