package dev.roost.runtime.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The Python interpreters of this machine that agents can choose: the newest patch of each version
 * from 3.9 to 3.14. Includes the system's interpreters, uv's and pyenv's.
 */
public final class Interpreters {
  private static final int MAJOR = 3;
  private static final int OLDEST_MINOR = 9;
  private static final int NEWEST_MINOR = 14;
  private static final String PREFERRED = "3.13";
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final NavigableMap<Integer, Interpreter> byMinor;

  private Interpreters(NavigableMap<Integer, Interpreter> byMinor) {
    this.byMinor = byMinor;
  }

  /**
   * @param patch the third number of the version
   * @param version the full version, for example "3.11.7"
   * @param executable the interpreter, not a link or a script that selects one
   */
  public record Interpreter(int minor, int patch, String version, Path executable) {
    /** Part of the image key: another patch may be built differently. */
    String identity() {
      return "cpython-" + version + " " + executable;
    }
  }

  /**
   * Uses {@code uv python list}, which caches its results.
   *
   * @throws StartFailed when no interpreter is found
   */
  public static Interpreters find(Path uv, DataDirectory data) throws StartFailed {
    String path = searchDirectories().stream().map(Path::toString).collect(Collectors.joining(":"));
    List<String> command =
        List.of(
            uv.toString(),
            "python",
            "list",
            "--only-installed",
            "--no-config",
            "--output-format",
            "json");
    Map<String, String> environment =
        Map.of("PATH", path, "UV_CACHE_DIR", data.uvCache().toString());
    try {
      Programs.Result result = Programs.run(command, environment, LIMIT);
      if (!result.succeeded()) {
        throw new StartFailed("uv cannot list the Python interpreters: " + result.errors().strip());
      }
      return of(result.output());
    } catch (IOException e) {
      throw new StartFailed("uv cannot list the Python interpreters: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartFailed("the start was interrupted", e);
    }
  }

  /**
   * @param json the output of {@code uv python list}
   */
  static Interpreters of(String json) throws IOException, StartFailed {
    NavigableMap<Integer, Interpreter> byMinor = new TreeMap<>();
    for (JsonNode entry : new ObjectMapper().readTree(json)) {
      JsonNode version = entry.path("version_parts");
      int minor = version.path("minor").asInt();
      boolean suits =
          entry.path("implementation").asText().equals("cpython")
              && entry.path("variant").asText("default").equals("default")
              && version.path("major").asInt() == MAJOR
              && minor >= OLDEST_MINOR
              && minor <= NEWEST_MINOR;
      if (suits) {
        Path executable = Path.of(entry.path("path").asText()).toRealPath();
        Interpreter found =
            new Interpreter(
                minor, version.path("patch").asInt(), entry.path("version").asText(), executable);
        byMinor.merge(minor, found, Interpreters::newer);
      }
    }
    if (byMinor.isEmpty()) {
      throw none();
    }
    return new Interpreters(byMinor);
  }

  static StartFailed none() {
    return new StartFailed("no Python 3.9 or later was found. Install one on the PATH.");
  }

  /** Oldest first, for example "3.9". */
  public List<String> versions() {
    return byMinor.keySet().stream().map(minor -> MAJOR + "." + minor).toList();
  }

  public String defaultVersion() {
    List<String> versions = versions();
    return versions.contains(PREFERRED) ? PREFERRED : versions.get(versions.size() - 1);
  }

  public Optional<Interpreter> get(String version) {
    return byMinor.values().stream()
        .filter(interpreter -> version.equals(MAJOR + "." + interpreter.minor()))
        .findFirst();
  }

  List<Interpreter> all() {
    return List.copyOf(byMinor.values());
  }

  private static Interpreter newer(Interpreter one, Interpreter other) {
    return Comparator.comparingInt(Interpreter::patch).compare(one, other) >= 0 ? one : other;
  }

  /**
   * The search path, with the interpreters that pyenv has installed instead of its shims: shims are
   * scripts that run the currently selected version, or none.
   */
  static List<Path> searchDirectories() {
    List<Path> directories = new ArrayList<>();
    String root = System.getenv("PYENV_ROOT");
    Path pyenv = root == null ? Path.of(System.getProperty("user.home"), ".pyenv") : Path.of(root);
    try (Stream<Path> versions = Files.list(pyenv.resolve("versions"))) {
      versions
          .map(version -> version.resolve("bin"))
          .filter(Interpreters::isCurrentPython)
          .forEach(directories::add);
    } catch (IOException e) {
      // There is no pyenv.
    }
    Programs.searchPath(System.getenv("PATH")).stream()
        .filter(directory -> !directory.endsWith("shims"))
        .forEach(directories::add);
    return directories;
  }

  /** Keeps uv from inspecting, and warning about, versions that agents can't choose. */
  private static boolean isCurrentPython(Path directory) {
    return Stream.iterate(OLDEST_MINOR, minor -> minor <= NEWEST_MINOR, minor -> minor + 1)
        .anyMatch(minor -> Files.exists(directory.resolve("python" + MAJOR + "." + minor)));
  }
}
