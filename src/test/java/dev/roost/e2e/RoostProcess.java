package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The packaged application as a process, with a data directory of its own. */
final class RoostProcess implements AutoCloseable {
  static final Path JAR =
      Path.of(System.getProperty("packaged.jar", "target/quarkus-app/quarkus-run.jar"))
          .toAbsolutePath();

  private final Path home;
  private final int port = Ports.free();
  private final Map<String, String> environment = new HashMap<>();
  private final LocalWorkers local;
  private final Workers workers;
  private List<String> prefix = List.of();
  private List<String> javaOptions = List.of();
  private Process process;
  private int starts;

  private RoostProcess(Workers shared) {
    try {
      // Paths of Unix sockets may have about 100 bytes; the system's temporary directory can be
      // deep.
      home = Files.createTempDirectory(Path.of("/tmp"), "roost-e2e-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    local = new LocalWorkers(home);
    workers =
        shared != null
            ? shared
            : TestCluster.isChosen() ? new PodWorkers(TestCluster.get()) : local;
    environment.put("ROOST_DATA", data().toString());
    environment.put("ROOST_PORT", Integer.toString(port));
    environment.put("ROOST_WELCOME", "false");
    // Tests count executors and kill them; those of pools have tests of their own.
    environment.put("ROOST_EXECUTORS_POOL", "0");
    environment.putAll(workers.settings(port));
  }

  /**
   * One that has not been started.
   *
   * @param settings environment variables: name, value, name, value, …
   */
  static RoostProcess prepared(String... settings) {
    return replica(null, settings);
  }

  /** One of several whose workers are the same; not started. */
  static RoostProcess replica(Workers workers, String... settings) {
    RoostProcess roost = new RoostProcess(workers);
    for (int i = 0; i < settings.length; i += 2) {
      roost.environment.put(settings[i], settings[i + 1]);
    }
    return roost;
  }

  /** One that answers. */
  static RoostProcess started(String... settings) {
    RoostProcess roost = prepared(settings);
    try {
      roost.start();
      return roost;
    } catch (RuntimeException | Error e) {
      roost.close();
      throw e;
    }
  }

  /** Sets an environment variable of the next start. */
  void set(String name, String value) {
    environment.put(name, value);
  }

  /** The next start is by a program that gets the real command as its last arguments. */
  void startBy(String... program) {
    prefix = List.of(program);
  }

  /** The next start is with these options of Java, too. */
  void javaOptions(String... options) {
    javaOptions = List.of(options);
  }

  /**
   * Starts it and waits until it answers; the first time, on a copy of what a first start leaves.
   */
  void start() {
    if (starts == 0 && !environment.containsKey("ROOST_DATABASE_URL")) {
      FirstStart.copyTo(data());
    }
    launch();
    awaitReady();
    UvCopy.keep(data());
  }

  /** Starts it, whatever becomes of it. */
  void launch() {
    starts++;
    List<String> command = new ArrayList<>(prefix);
    // A test command in the background of a script passes on that SIGINT is ignored.
    command.addAll(List.of("env", "--default-signal=INT"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError"));
    command.addAll(javaOptions);
    command.addAll(FirstStart.archiveOptions());
    command.addAll(List.of("-jar", JAR.toString()));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(home.toFile())
            .redirectOutput(file("out").toFile())
            .redirectError(file("err").toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("ROOST_"));
    builder.environment().putAll(environment);
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void awaitReady() {
    Client client = new Client(url(), null);
    Eventually.until(
        "ready",
        () -> {
          if (!process.isAlive()) {
            throw new AssertionError("Roost ended with " + process.exitValue() + ":\n" + errors());
          }
          return Files.exists(keyFile()) && client.get("/q/health/ready").status() == 200;
        });
  }

  Path home() {
    return home;
  }

  Path data() {
    return home.resolve("data");
  }

  Path keyFile() {
    String given = environment.get("ROOST_API_KEY_FILE");
    return given == null ? data().resolve("api_key") : Path.of(given);
  }

  String key() {
    return read(keyFile()).strip();
  }

  int port() {
    return port;
  }

  String url() {
    return "http://127.0.0.1:" + port;
  }

  /** Where scripts reach it. */
  String urlForScripts() {
    return environment.getOrDefault("ROOST_KUBERNETES_EXECUTOR_URL", url());
  }

  Client client() {
    return new Client(url(), key());
  }

  /** What the latest start has printed. */
  String output() {
    return read(file("out"));
  }

  String errors() {
    return read(file("err"));
  }

  long pid() {
    return process.pid();
  }

  boolean isRunning() {
    return process.isAlive();
  }

  /** Lets its Java machine remove what nobody holds any more. */
  void collectGarbage() {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    try {
      Process command =
          new ProcessBuilder(jcmd, Long.toString(pid()), "GC.run")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      assertEquals(0, command.waitFor());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Waits for the end and answers the exit status. */
  int exitStatus() {
    try {
      if (!process.waitFor(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("Roost doesn't end:\n" + output() + errors());
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  void kill9() {
    Machine.signal(pid(), "KILL");
    exitStatus();
  }

  /** Sends SIGTERM and waits for the end. */
  int terminate() {
    Machine.signal(pid(), "TERM");
    return exitStatus();
  }

  /** Its builds and executors, whatever they run on. */
  Workers workers() {
    return workers;
  }

  /** Everything on this machine that works for this one, the control plane itself included. */
  List<Machine.Running> processes() {
    return local.processes();
  }

  List<Machine.Running> sidecars() {
    return local.sidecars();
  }

  List<Machine.Running> runners() {
    return local.runners();
  }

  /** With their templates and the processes of executions. */
  List<Machine.Running> runnersAndForks() {
    return local.processes(" runner ");
  }

  /** PostgreSQL's main process. */
  Machine.Running postmaster() {
    return findPostmaster().orElseThrow();
  }

  Optional<Machine.Running> findPostmaster() {
    return local.processes("/bin/postgres -D").stream().findFirst();
  }

  /** Ends it in peace, and what is left by force; removes its files. */
  @Override
  public void close() {
    if (process != null && process.isAlive()) {
      Machine.signal(pid(), "TERM");
      try {
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    local.close();
    workers.close();
    keepLog();
    delete(home);
  }

  /** What it has logged, for whoever looks into a test that failed. */
  private void keepLog() {
    Path log = data().resolve("logs").resolve("roost.log");
    try {
      if (Files.exists(log)) {
        Path kept = Files.createDirectories(Path.of("target", "e2e-logs"));
        Files.copy(log, kept.resolve(home.getFileName() + ".log"));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path file(String name) {
    return home.resolve(name + "." + starts);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path tree) {
    try (Stream<Path> all = Files.walk(tree)) {
      for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(one);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
