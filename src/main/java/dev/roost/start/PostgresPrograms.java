package dev.roost.start;

import dev.roost.runtime.local.DataDirectory;
import dev.roost.runtime.local.PrivateFiles;
import dev.roost.runtime.local.Programs;
import dev.roost.runtime.local.StartFailed;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/**
 * PostgreSQL's programs, unpacked from the archive on the class path, and how they are started.
 *
 * <p>PostgreSQL refuses to run as root. For root, it runs in its own user namespace, in which root
 * appears as nobody but still owns root's files.
 *
 * @param directory contains {@code bin}, {@code lib} and {@code share}
 * @param prefix precedes each command
 */
record PostgresPrograms(Path directory, List<String> prefix) {
  /** Changes together with the archive on the class path. */
  static final String VERSION = "18.6.0";

  static final String MAJOR_VERSION = "18";

  private static final Set<String> NOT_NEEDED = Set.of("include/", "lib/pkgconfig/", "share/doc/");

  static PostgresPrograms unpacked(DataDirectory data) throws StartFailed {
    Path directory = data.root().resolve("postgres-" + VERSION);
    if (!Files.isDirectory(directory)) {
      unpack(directory);
    }
    return new PostgresPrograms(directory, commandPrefix());
  }

  Path server() {
    return directory.resolve("bin").resolve("postgres");
  }

  Path initdb() {
    return directory.resolve("bin").resolve("initdb");
  }

  /**
   * Unpacks into a temporary directory and renames it, so that a directory with this name is
   * complete.
   */
  private static void unpack(Path directory) throws StartFailed {
    String archive = archiveName();
    Path draft = directory.resolveSibling("." + directory.getFileName() + ".new");
    try (InputStream resource =
        PostgresPrograms.class.getClassLoader().getResourceAsStream(archive)) {
      if (resource == null) {
        throw new StartFailed(
            ("Roost includes no PostgreSQL for this machine (%s). Set ROOST_DATABASE_URL to your own "
                    + "PostgreSQL.")
                .formatted(System.getProperty("os.arch")));
      }
      PrivateFiles.deleteTree(draft);
      unpack(resource, draft);
      Files.move(draft, directory, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new StartFailed("PostgreSQL cannot be unpacked to " + directory + ": " + e, e);
    }
  }

  private static void unpack(InputStream archive, Path target) throws IOException {
    try (TarArchiveInputStream tar =
        new TarArchiveInputStream(
            new BufferedInputStream(
                new XZCompressorInputStream(new BufferedInputStream(archive, 1 << 16)), 1 << 16))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        String name = entry.getName().replaceFirst("^\\./", "");
        if (NOT_NEEDED.stream().anyMatch(name::startsWith) || name.endsWith(".a")) {
          continue;
        }
        Path file = target.resolve(name).normalize();
        if (!file.startsWith(target)) {
          throw new IOException("the archive contains a path outside of its directory: " + name);
        }
        if (entry.isDirectory()) {
          Files.createDirectories(file);
          continue;
        }
        Files.createDirectories(file.getParent());
        if (entry.isSymbolicLink()) {
          Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
        } else if (entry.isLink()) {
          Files.createLink(file, target.resolve(entry.getLinkName().replaceFirst("^\\./", "")));
        } else {
          Files.copy(tar, file);
          boolean program = (entry.getMode() & 0100) != 0;
          Files.setPosixFilePermissions(
              file, PosixFilePermissions.fromString(program ? "rwxr-xr-x" : "rw-r--r--"));
        }
      }
    }
  }

  private static String archiveName() {
    String machine = System.getProperty("os.arch");
    return switch (machine) {
      case "amd64", "x86_64" -> "postgres-linux-x86_64.txz";
      case "aarch64", "arm64" -> "postgres-linux-arm_64.txz";
      default -> "postgres-linux-" + machine + ".txz";
    };
  }

  private static List<String> commandPrefix() throws StartFailed {
    return Programs.isRoot() ? List.of(unshare(), "-U") : List.of();
  }

  private static String unshare() throws StartFailed {
    Optional<Path> program = Programs.find("unshare");
    try {
      if (program.isPresent()
          && Programs.run(
                  List.of(program.get().toString(), "-U", "true"), Map.of(), Duration.ofSeconds(5))
              .succeeded()) {
        return program.get().toString();
      }
    } catch (IOException e) {
      throw new StartFailed("unshare cannot be run: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new StartFailed(
        "PostgreSQL does not run as root, and this machine does not allow user namespaces. Start "
            + "Roost as another user, or set ROOST_DATABASE_URL to your own PostgreSQL.");
  }
}
