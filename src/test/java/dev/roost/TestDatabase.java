package dev.roost;

import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/**
 * A PostgreSQL of the tests' own, from the binaries on the class path: empty at the start, gone at
 * the end.
 */
public class TestDatabase implements QuarkusTestResourceLifecycleManager {
  private static final Path BINARIES = Path.of("target", "postgres").toAbsolutePath();

  private Path directory;
  private int port;
  private Process server;

  @Override
  public Map<String, String> start() {
    try {
      unpack();
      directory = Files.createTempDirectory("roost-test-database");
      Path data = directory.resolve("data");
      run(
          "initdb",
          "--pgdata=" + data,
          "--username=roost",
          "--auth=trust",
          "--encoding=UTF8",
          "--locale=C",
          "--no-sync");
      port = Ports.free();
      startServer();
      String url = url();
      return Map.of(
          "quarkus.datasource.jdbc.url",
          url,
          "quarkus.datasource.username",
          "roost",
          "quarkus.datasource.password",
          "roost",
          "quarkus.http.test-port",
          "0",
          // What tests write down as BuilderJobs would be built again.
          "roost.rollouts.automatic",
          "false",
          "roost.data",
          Files.createDirectory(directory.resolve("roost")).toString());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private String url() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
  }

  private void startServer() throws IOException {
    server =
        process(
                "postgres",
                "-D",
                directory.resolve("data").toString(),
                "-p",
                Integer.toString(port),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=",
                "-c",
                "fsync=off")
            .start();
    awaitReady(url());
  }

  /** Ends it in the middle of whatever it does; nothing is written out, as after a power cut. */
  public void kill() {
    try {
      // SIGQUIT: by SIGKILL, its own processes would go on for a moment.
      new ProcessBuilder("kill", "-QUIT", Long.toString(server.pid())).start().waitFor();
      server.waitFor();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Starts it again after {@link #kill}, with what it had stored. */
  public void startAgain() {
    try {
      startServer();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void stop() {
    try {
      if (server != null) {
        // SIGINT: don't wait for connections to end.
        new ProcessBuilder("kill", "-INT", Long.toString(server.pid())).start().waitFor();
        if (!server.waitFor(60, TimeUnit.SECONDS)) {
          server.destroyForcibly();
        }
      }
      if (directory != null) {
        try (Stream<Path> files = Files.walk(directory)) {
          for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
            Files.delete(file);
          }
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Test runs of several processes share the programs; one of them unpacks. */
  private static synchronized void unpack() throws IOException {
    Files.createDirectories(BINARIES);
    try (FileChannel channel =
        FileChannel.open(
            BINARIES.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.lock();
      if (!Files.exists(BINARIES.resolve("complete"))) {
        unpackAll();
      }
    }
  }

  private static void unpackAll() throws IOException {
    String architecture =
        System.getProperty("os.arch").equals("aarch64") ? "arm_64" : System.getProperty("os.arch");
    String archive =
        "/postgres-linux-" + (architecture.equals("amd64") ? "x86_64" : architecture) + ".txz";
    try (InputStream resource = TestDatabase.class.getResourceAsStream(archive);
        TarArchiveInputStream tar =
            new TarArchiveInputStream(new XZCompressorInputStream(resource))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        Path target = BINARIES.resolve(entry.getName()).normalize();
        if (!target.startsWith(BINARIES)) {
          throw new IOException("an archive entry leads outside: " + entry.getName());
        }
        if (entry.isDirectory()) {
          Files.createDirectories(target);
          continue;
        }
        Files.createDirectories(target.getParent());
        Files.deleteIfExists(target);
        if (entry.isSymbolicLink()) {
          Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
        } else {
          Files.copy(tar, target);
          boolean executable = (entry.getMode() & 0100) != 0;
          Files.setPosixFilePermissions(
              target, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
        }
      }
    }
    Files.createFile(BINARIES.resolve("complete"));
  }

  private void run(String program, String... arguments) throws IOException {
    try {
      Process process = process(program, arguments).start();
      if (process.waitFor() != 0) {
        throw new IllegalStateException(
            program + " failed:\n" + Files.readString(directory.resolve(program + ".log")));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private ProcessBuilder process(String program, String... arguments) {
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      // PostgreSQL refuses to run as root; in a user namespace it is nobody.
      command.addAll(List.of("unshare", "-U"));
    }
    command.add(BINARIES.resolve("bin").resolve(program).toString());
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve(program + ".log").toFile());
  }

  /** Listening is not enough: while it starts up, it refuses whoever connects. */
  private void awaitReady(String url) throws IOException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (true) {
      try (Connection connection = DriverManager.getConnection(url, "roost", "roost")) {
        return;
      } catch (SQLException e) {
        if (!server.isAlive() || System.nanoTime() > end) {
          String log = Files.readString(directory.resolve("postgres.log"));
          throw new IllegalStateException("PostgreSQL does not start:\n" + log, e);
        }
      }
      try {
        server.waitFor(20, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }
}
