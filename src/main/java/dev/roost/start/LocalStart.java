package dev.roost.start;

import dev.roost.config.RoostConfig;
import dev.roost.runtime.local.DataDirectory;
import dev.roost.runtime.local.Interpreters;
import dev.roost.runtime.local.StartFailed;
import dev.roost.runtime.local.UvProgram;
import io.quarkus.runtime.LaunchMode;
import io.quarkus.runtime.Quarkus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.microprofile.config.Config;

/**
 * A complete run: check, start PostgreSQL unless there is one, run Quarkus, stop PostgreSQL.
 * Executors and builds on this machine end with Quarkus, while the database is still running.
 */
final class LocalStart {
  private static final String JDBC_URL = "quarkus.datasource.jdbc.url";
  private static final long STOP_LIMIT_SECONDS = 60;
  private static final long PARENT_INTERVAL_MILLIS = 250;

  private final RoostConfig config;
  private final Config settings;
  private final DataDirectory data;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean preparing = true;
  private volatile boolean stopping;

  LocalStart(RoostConfig config, Config settings) {
    this.config = config;
    this.settings = settings;
    this.data = new DataDirectory(config.data());
  }

  /**
   * Runs until it receives a stop signal.
   *
   * @return the process's exit status
   * @throws StartFailed with what to do about it
   */
  int run(String... arguments) throws StartFailed {
    // Held until everything has ended: the lock's holder owns all running processes.
    try (AutoCloseable lock = lock()) {
      return runAlone(arguments);
    } catch (StartFailed e) {
      throw e;
    } catch (Exception e) {
      throw new StartFailed(e.toString(), e);
    }
  }

  private AutoCloseable lock() throws StartFailed {
    if (!DataDirectory.isUsedBy(config)) {
      return () -> {};
    }
    data.create();
    return data.lock();
  }

  private int runAlone(String... arguments) throws Exception {
    if (!LaunchMode.current().isDev()) { // In development mode, the port stays open over reloads.
      checkPort();
    }
    stopOnSignals();
    try {
      CompletableFuture<Void> pythons = CompletableFuture.runAsync(this::checkPythons);
      try (AutoCloseable database = database()) {
        pythons.join();
        return runQuarkus(arguments);
      }
    } catch (CompletionException e) {
      throw e.getCause() instanceof StartFailed failure
          ? failure
          : new StartFailed(e.getCause().toString(), e);
    } catch (StartFailed e) {
      if (stopping) {
        return 0; // The interruption is the cause of the failure.
      }
      throw e;
    } finally {
      // Short-lived processes that have not ended.
      ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
      ended.countDown();
    }
  }

  private int runQuarkus(String... arguments) throws StartFailed {
    preparing = false;
    if (stopping) {
      return 0;
    }
    if (config.exitWithParent()) {
      watchParent();
    }
    if (DataDirectory.isUsedBy(config)) {
      Main.set("quarkus.log.file.enabled", "true");
      Main.set("quarkus.log.file.path", data.logs().resolve("roost.log").toString());
    } else {
      Main.set("quarkus.log.console.level", "INFO");
    }
    AtomicInteger status = new AtomicInteger();
    AtomicReference<Throwable> cause = new AtomicReference<>();
    Quarkus.run(
        LocalApplication.class,
        (code, failure) -> {
          status.set(code);
          cause.set(failure);
        },
        arguments);
    if (cause.get() != null && !stopping) {
      throw new StartFailed(rootOf(cause.get()), cause.get());
    }
    return status.get();
  }

  /** The root cause's message, for a person. */
  private static String rootOf(Throwable failure) {
    Throwable root = failure;
    // Causes of the driver's exception only describe the socket.
    while (root.getCause() != null && !(root instanceof SQLException)) {
      root = root.getCause();
    }
    String message = root.getMessage();
    return message == null ? root.toString() : message.lines().findFirst().orElse(message);
  }

  /** The embedded database, unless the settings name another one. */
  private AutoCloseable database() throws StartFailed {
    Main.useConfiguredDatabase(config);
    boolean other =
        config.database().url().isPresent()
            || settings.getOptionalValue(JDBC_URL, String.class).isPresent();
    if (other) {
      return () -> {};
    }
    EmbeddedDatabase database = EmbeddedDatabase.start(data);
    Main.set(JDBC_URL, database.jdbcUrl());
    Main.set("quarkus.datasource.username", database.username());
    Main.set("quarkus.datasource.password", database.password());
    return () -> {
      System.clearProperty(JDBC_URL); // The next run in this process starts its own database.
      database.close();
    };
  }

  private void checkPythons() {
    if (!config.runtime().equals("local")) {
      return;
    }
    try {
      Interpreters.find(UvProgram.find(data), data);
    } catch (StartFailed e) {
      throw new CompletionException(e);
    }
  }

  private void checkPort() throws StartFailed {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByName(config.host()), config.port()));
    } catch (UnknownHostException e) {
      throw new StartFailed("roost.host is not an address of this machine: " + config.host(), e);
    } catch (IOException | IllegalArgumentException e) {
      throw new StartFailed(
          ("port %d of %s cannot be used (%s). Another Roost or another program may use it. Set "
                  + "ROOST_PORT to a free port.")
              .formatted(config.port(), config.host(), e.getMessage()),
          e);
    }
  }

  /**
   * On SIGTERM and SIGINT, the virtual machine ends as soon as its shutdown hooks have ended: this
   * hook waits until everything has been stopped in order. (Quarkus has a hook, too, which ends
   * {@link Quarkus#run}.)
   */
  private void stopOnSignals() {
    Thread main = Thread.currentThread();
    java.lang.Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  stopping = true;
                  if (preparing) {
                    main.interrupt();
                  }
                  try {
                    ended.await(STOP_LIMIT_SECONDS, TimeUnit.SECONDS);
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                },
                "stop"));
  }

  /**
   * Ends this process when its parent process changes, since then the original parent has ended.
   */
  private void watchParent() {
    long parent = parent();
    Thread thread =
        new Thread(
            () -> {
              while (parent() == parent) {
                try {
                  Thread.sleep(PARENT_INTERVAL_MILLIS);
                } catch (InterruptedException e) {
                  return;
                }
              }
              System.exit(0);
            },
            "parent-watch");
    thread.setDaemon(true);
    thread.start();
  }

  private static long parent() {
    return ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);
  }
}
