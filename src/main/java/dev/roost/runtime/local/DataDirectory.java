package dev.roost.runtime.local;

import dev.roost.config.RoostConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * The directory with all data of a server on one machine.
 *
 * <pre>
 * api_key                 the first API key, readable by its owner only
 * lock                    locked, with the process's number, while a server runs here
 * database/ database.*    PostgreSQL's cluster, password and port
 * postgres-VERSION/       PostgreSQL's programs
 * builds/IMAGE_KEY/       a Build: a virtual environment
 * builder-jobs/ID/        a build that runs or has ended: pid, log, requirements.txt, tmp/
 * executors/ID/           an executor: pid, token, sidecar.log, agent.log, …
 * lib/HASH/               the Python sources of executor and builder
 * tools/ cache/ logs/
 * </pre>
 */
public record DataDirectory(Path root) {
  private static final Set<PosixFilePermission> OWNER_ALONE =
      PosixFilePermissions.fromString("rwx------");

  public DataDirectory {
    root = root.toAbsolutePath().normalize();
  }

  /**
   * Whether a server with these settings stores anything on its machine. With an external database
   * and executors elsewhere it stores nothing, and there can be several replicas.
   */
  public static boolean isUsedBy(RoostConfig config) {
    return config.runtime().equals("local") || config.database().url().isEmpty();
  }

  /**
   * Creates the directory if it doesn't exist, and removes all permissions except for the owner's,
   * since the directory holds secrets.
   *
   * @throws StartFailed when the directory can't be created or written
   */
  public void create() throws StartFailed {
    try {
      if (!Files.isDirectory(root)) {
        Files.createDirectories(root);
      }
      if (!Files.getPosixFilePermissions(root).equals(OWNER_ALONE)) {
        Files.setPosixFilePermissions(root, OWNER_ALONE);
      }
      Files.delete(Files.createTempFile(root, ".writable", ""));
      Files.createDirectories(logs());
    } catch (IOException | UnsupportedOperationException e) {
      throw new StartFailed(
          "the data directory "
              + root
              + " is not writable. Set ROOST_DATA to a writable directory.",
          e);
    }
  }

  /**
   * Locks the directory for this process, until the process ends or closes the lock.
   *
   * @throws StartFailed when another process holds the lock
   */
  public AutoCloseable lock() throws StartFailed {
    Path file = root.resolve("lock");
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      FileLock lock = channel.tryLock();
      if (lock != null) {
        channel.truncate(0);
        channel.write(StandardCharsets.US_ASCII.encode(ProcessHandle.current().pid() + "\n"), 0);
        return channel;
      }
    } catch (OverlappingFileLockException e) {
      // This process holds the lock already: the same error as below applies.
    } catch (IOException e) {
      throw new StartFailed("the data directory " + root + " cannot be locked: " + e, e);
    }
    throw new StartFailed(
        ("another Roost%s uses the data directory %s. Stop it, or set ROOST_DATA to another "
                + "directory.")
            .formatted(owner(channel), root));
  }

  private static String owner(FileChannel channel) {
    try (channel) {
      ByteBuffer text = ByteBuffer.allocate(32);
      channel.read(text, 0);
      String pid = StandardCharsets.US_ASCII.decode(text.flip()).toString().strip();
      return pid.isEmpty() ? "" : " (process " + pid + ")";
    } catch (IOException e) {
      return "";
    }
  }

  public Path apiKey() {
    return root.resolve("api_key");
  }

  public Path logs() {
    return root.resolve("logs");
  }

  public Path database() {
    return root.resolve("database");
  }

  public Path databasePassword() {
    return root.resolve("database.password");
  }

  public Path databasePort() {
    return root.resolve("database.port");
  }

  Path builds() {
    return root.resolve("builds");
  }

  Path builderJobs() {
    return root.resolve("builder-jobs");
  }

  Path executors() {
    return root.resolve("executors");
  }

  Path lib() {
    return root.resolve("lib");
  }

  Path tools() {
    return root.resolve("tools");
  }

  Path uvCache() {
    return root.resolve("cache").resolve("uv");
  }
}
