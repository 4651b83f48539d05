package dev.roost.start;

import dev.roost.runtime.local.BoundedLog;
import dev.roost.runtime.local.DataDirectory;
import dev.roost.runtime.local.LiveProcess;
import dev.roost.runtime.local.PrivateFiles;
import dev.roost.runtime.local.Programs;
import dev.roost.runtime.local.StartFailed;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jboss.logging.Logger;

/**
 * The PostgreSQL in the data directory: on the loopback address only, with a random password, in
 * its own session.
 *
 * <p>It outlives a control plane that is killed, and the next control plane adopts it. When
 * PostgreSQL itself is killed, it is restarted at once on the same port.
 */
public final class EmbeddedDatabase implements AutoCloseable {
  private static final Logger LOG = Logger.getLogger(EmbeddedDatabase.class);
  private static final String USER = "roost";
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final Duration FAST_STOP_LIMIT = Duration.ofSeconds(10);
  private static final Duration IMMEDIATE_STOP_LIMIT = Duration.ofSeconds(5);
  private static final Duration WATCH_INTERVAL = Duration.ofMillis(50);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
  private static final long MAX_LOG_BYTES = 8L << 20;

  private final DataDirectory data;
  private final BoundedLog log;
  private final PostgresPrograms programs;
  private final String password;
  private final int port;
  private final Thread watcher = new Thread(this::watch, "postgresql-watcher");
  private volatile LiveProcess server;
  private volatile boolean closing;

  /**
   * Creates the database if it doesn't exist, and starts it unless it is running.
   *
   * @throws StartFailed with PostgreSQL's error
   */
  public static EmbeddedDatabase start(DataDirectory data) throws StartFailed {
    try {
      EmbeddedDatabase database = new EmbeddedDatabase(data);
      database.watcher.setDaemon(true);
      database.watcher.start();
      return database;
    } catch (IOException e) {
      throw new StartFailed("the database in " + data.root() + " cannot be started: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartFailed("the start was interrupted", e);
    }
  }

  private EmbeddedDatabase(DataDirectory data)
      throws IOException, InterruptedException, StartFailed {
    this.data = data;
    log = new BoundedLog(data.logs().resolve("postgresql.log"), MAX_LOG_BYTES);
    programs = PostgresPrograms.unpacked(data);
    password = rememberedPassword();
    if (Files.isDirectory(data.database())) {
      checkVersion();
    } else {
      initialize();
    }
    Postmaster.awaitSettled(data.database(), START_LIMIT);
    Optional<Postmaster> running = Postmaster.running(data.database());
    if (running.isPresent() && running.get().isRunBy(programs.server())) {
      port = running.get().port();
      server = running.get().process();
      if (awaitReady()) {
        LOG.infof("PostgreSQL is still running, as process %d", server.pid());
      } else {
        startServer();
      }
      return;
    }
    if (running.isPresent()) { // Another version: Roost was updated meanwhile.
      stop(running.get().process());
    }
    port = rememberedPort();
    startServer();
  }

  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
  }

  public String username() {
    return USER;
  }

  public String password() {
    return password;
  }

  /** The process identifier of PostgreSQL's main process. */
  long pid() {
    return server.pid();
  }

  /** Stops PostgreSQL and waits until it has ended. */
  @Override
  public void close() {
    closing = true;
    try {
      watcher.interrupt(); // It may be starting PostgreSQL.
      watcher.join();
      stop(server);
    } catch (IOException e) {
      LOG.error("PostgreSQL cannot be stopped", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String rememberedPassword() throws IOException {
    String remembered = PrivateFiles.read(data.databasePassword());
    if (remembered != null) {
      return remembered;
    }
    byte[] random = new byte[24];
    new SecureRandom().nextBytes(random);
    PrivateFiles.writeDurably(data.databasePassword(), HexFormat.of().formatHex(random) + "\n");
    return PrivateFiles.read(data.databasePassword());
  }

  private void checkVersion() throws IOException, StartFailed {
    String version = PrivateFiles.read(data.database().resolve("PG_VERSION"));
    if (!PostgresPrograms.MAJOR_VERSION.equals(version)) {
      throw new StartFailed(
          ("%s is a database of PostgreSQL %s, but this Roost includes PostgreSQL %s. Migrate the "
                  + "data with pg_dump, or set ROOST_DATA.")
              .formatted(data.database(), version, PostgresPrograms.MAJOR_VERSION));
    }
  }

  private void initialize() throws IOException, InterruptedException, StartFailed {
    Path draft = data.root().resolve(".database.new");
    PrivateFiles.deleteTree(draft);
    List<String> command =
        List.of(
            programs.initdb().toString(),
            "--pgdata=" + draft,
            "--username=" + USER,
            "--pwfile=" + data.databasePassword(),
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--no-locale");
    Programs.Result result =
        Programs.run(withPrefix(command), Map.of("TZ", "UTC", "LC_ALL", "C"), START_LIMIT);
    if (!result.succeeded()) {
      throw new StartFailed("the database cannot be created: " + result.errors().strip());
    }
    Files.move(draft, data.database(), StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Returns the port of the last start if it is still free, so that clients of that port continue
   * to work.
   */
  private int rememberedPort() throws IOException {
    String remembered = PrivateFiles.read(data.databasePort());
    if (remembered != null && isFree(Integer.parseInt(remembered))) {
      return Integer.parseInt(remembered);
    }
    int candidate;
    do {
      // Below the range of ephemeral ports: an outgoing connection could take one of those while
      // PostgreSQL is down.
      candidate = ThreadLocalRandom.current().nextInt(15_000, 30_000);
    } while (!isFree(candidate));
    PrivateFiles.write(data.databasePort(), candidate + "\n");
    return candidate;
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void startServer() throws IOException, InterruptedException, StartFailed {
    try {
      startAgainWhileMemoryIsHeld();
    } catch (IOException | InterruptedException | StartFailed e) {
      if (server != null) {
        server.kill();
      }
      throw e;
    }
  }

  private void startAgainWhileMemoryIsHeld() throws IOException, InterruptedException, StartFailed {
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (true) {
      Postmaster.release(data.database());
      server = spawn();
      if (awaitReady()) {
        return;
      }
      // After a kill, the old backends hold the shared memory until they notice.
      boolean willPass = log.lastLines().contains("shared memory");
      if (closing || !willPass || System.nanoTime() > deadline) {
        throw new StartFailed("PostgreSQL does not start:\n" + log.lastLines());
      }
      Thread.sleep(WATCH_INTERVAL.toMillis());
    }
  }

  private LiveProcess spawn() throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(withPrefix(PostgresSettings.command(programs, data.database(), port)))
            .directory(data.root().toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.file().toFile()));
    builder.environment().clear();
    builder.environment().putAll(Map.of("PATH", "/usr/bin:/bin", "TZ", "UTC", "LC_ALL", "C"));
    long pid = builder.start().pid();
    return LiveProcess.of(pid).orElse(new LiveProcess(pid, 0, "-"));
  }

  /**
   * A separate session, so that a Ctrl-C for the control plane doesn't end PostgreSQL too early.
   */
  private List<String> withPrefix(List<String> command) {
    List<String> all = new ArrayList<>();
    Programs.find("setsid").ifPresent(setsid -> all.add(setsid.toString()));
    all.addAll(programs.prefix());
    all.addAll(command);
    return all;
  }

  /**
   * @return false when PostgreSQL ended before it was ready
   */
  private boolean awaitReady() throws IOException, InterruptedException, StartFailed {
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (!Postmaster.isReady(data.database(), server.pid())) {
      if (!server.isAlive()) {
        return false;
      }
      if (System.nanoTime() > deadline) {
        throw new StartFailed(
            "PostgreSQL is not ready after " + START_LIMIT + ":\n" + log.lastLines());
      }
      Thread.sleep(5);
    }
    return true;
  }

  private void watch() {
    Duration pause = WATCH_INTERVAL;
    while (!closing) {
      try {
        if (!server.isAlive()) {
          LOG.warn("PostgreSQL has ended; restarting it");
          startServer();
          LOG.infof("PostgreSQL was restarted, as process %d", server.pid());
        }
        log.trim();
        pause = WATCH_INTERVAL;
      } catch (IOException | StartFailed e) {
        pause =
            pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
                ? pause.multipliedBy(2)
                : LONGEST_PAUSE;
        LOG.errorf("PostgreSQL cannot be restarted; retrying: %s", e.getMessage());
      } catch (InterruptedException e) {
        return;
      }
      try {
        Thread.sleep(pause.toMillis());
      } catch (InterruptedException e) {
        return; // This object is being closed.
      }
    }
  }

  private void stop(LiveProcess process) throws IOException, InterruptedException {
    signal(process, "INT");
    if (!process.awaitEnd(FAST_STOP_LIMIT)) {
      signal(process, "QUIT");
      if (!process.awaitEnd(IMMEDIATE_STOP_LIMIT)) {
        process.kill();
        process.awaitEnd(IMMEDIATE_STOP_LIMIT);
      }
    }
  }

  /**
   * Java can send only SIGTERM and SIGKILL; after SIGTERM, PostgreSQL would wait for clients to
   * disconnect.
   */
  private static void signal(LiveProcess process, String name)
      throws IOException, InterruptedException {
    if (process.isAlive()) {
      Programs.run(
          List.of("/bin/sh", "-c", "kill -" + name + " " + process.pid()),
          Map.of(),
          Duration.ofSeconds(5));
    }
  }
}
