package dev.roost.runtime.local;

import dev.roost.api.Text;
import io.quarkus.runtime.util.ClassPathUtils;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The Python sources of executor and builder, and the SDK's wheel, unpacked from the class path.
 * The directory's name is a hash of the contents, so that executors of an earlier version keep
 * their sources.
 */
final class PythonSources {
  private static final String RESOURCES = "python";
  private static final int HASH_CHARACTERS = 16;
  private static final Duration COMPILE_LIMIT = Duration.ofMinutes(1);

  private PythonSources() {}

  /**
   * @return the directory that contains the packages
   */
  static Path unpack(DataDirectory data) throws IOException {
    SortedMap<String, byte[]> files = files();
    Path directory = data.lib().resolve(hash(files));
    if (Files.isDirectory(directory)) {
      return directory;
    }
    Path draft = data.lib().resolve("." + directory.getFileName() + ".new");
    PrivateFiles.deleteTree(draft);
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      Path target = draft.resolve(file.getKey());
      Files.createDirectories(target.getParent());
      Files.write(target, file.getValue());
    }
    Files.move(draft, directory, StandardCopyOption.ATOMIC_MOVE);
    return directory;
  }

  /**
   * Compiles the sources for an interpreter, once. Executors write no bytecode, and would compile
   * the sources at each start (10 ms).
   */
  static void compile(Path directory, Path python) throws IOException, InterruptedException {
    Path mark = directory.resolve("." + Integer.toHexString(python.hashCode()) + ".compiled");
    if (!Files.exists(mark)) {
      List<String> command =
          List.of(
              python.toString(),
              "-I",
              "-m",
              "compileall",
              "-q",
              "--invalidation-mode",
              "unchecked-hash",
              directory.toString());
      if (Programs.run(command, Map.of(), COMPILE_LIMIT).succeeded()) {
        Files.writeString(mark, python + "\n");
      }
    }
  }

  /** Removes other versions that no executor uses. */
  static void removeUnused(Path current) throws IOException {
    try (DirectoryStream<Path> all = Files.newDirectoryStream(current.getParent())) {
      for (Path version : all) {
        if (!version.equals(current) && LiveProcess.workingIn(version).isEmpty()) {
          PrivateFiles.deleteTree(version);
        }
      }
    }
  }

  private static SortedMap<String, byte[]> files() throws IOException {
    SortedMap<String, byte[]> files = new TreeMap<>();
    ClassPathUtils.consumeAsPaths(
        PythonSources.class.getClassLoader(), RESOURCES, root -> collect(root, files));
    if (files.isEmpty()) {
      throw new IOException("the Python sources are missing from the application");
    }
    return files;
  }

  private static void collect(Path root, Map<String, byte[]> files) {
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : (Iterable<Path>) all::iterator) {
        if (file.toString().endsWith(".py") || file.toString().endsWith(".whl")) {
          files.put(root.relativize(file).toString(), Files.readAllBytes(file));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String hash(SortedMap<String, byte[]> files) {
    MessageDigest digest = Text.sha256();
    files.forEach(
        (name, content) -> {
          digest.update((name + "\0" + content.length + "\0").getBytes(StandardCharsets.UTF_8));
          digest.update(content);
        });
    return HexFormat.of().formatHex(digest.digest()).substring(0, HASH_CHARACTERS);
  }
}
