package dev.roost.runtime.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds uv, which installs packages: an installed one that is new enough, else the one that an
 * earlier start has downloaded, else downloads one with a Python's pip.
 */
public final class UvProgram {
  /** The version to download: the newest at the time of writing, and the one that the tests use. */
  static final String VERSION = "0.13.8";

  /** The oldest installed version that is accepted: it writes pylock.toml and checks its hashes. */
  private static final int OLDEST_MINOR = 8;

  private static final Pattern VERSION_TEXT = Pattern.compile("uv (\\d+)\\.(\\d+)\\.");
  private static final Duration FETCH_LIMIT = Duration.ofMinutes(5);
  private static final Duration VERSION_TIMEOUT = Duration.ofSeconds(10);

  private UvProgram() {}

  /**
   * @throws StartFailed when uv is neither installed nor can be downloaded
   */
  public static Path find(DataDirectory data) throws StartFailed {
    try {
      Optional<Path> installed = Programs.find("uv");
      if (installed.isPresent() && isNewEnough(installed.get())) {
        return installed.get();
      }
      Path directory = data.tools().resolve("uv-" + VERSION);
      Path program = directory.resolve("bin").resolve("uv");
      if (!Programs.isProgram(program)) {
        fetch(directory);
      }
      return program;
    } catch (IOException e) {
      throw new StartFailed("uv cannot be downloaded: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartFailed("the start was interrupted", e);
    }
  }

  private static boolean isNewEnough(Path program) throws IOException, InterruptedException {
    Programs.Result result =
        Programs.run(List.of(program.toString(), "--version"), Map.of(), VERSION_TIMEOUT);
    Matcher version = VERSION_TEXT.matcher(result.output());
    return result.succeeded()
        && version.find()
        && (Integer.parseInt(version.group(1)) > 0
            || Integer.parseInt(version.group(2)) >= OLDEST_MINOR);
  }

  private static void fetch(Path directory) throws IOException, InterruptedException, StartFailed {
    Path draft = directory.resolveSibling("." + directory.getFileName() + ".new");
    String failure = "";
    List<Path> pythons = pythons();
    if (pythons.isEmpty()) {
      throw Interpreters.none(); // Python is needed first: its pip provides uv.
    }
    for (Path python : pythons) {
      PrivateFiles.deleteTree(draft);
      Files.createDirectories(draft);
      List<String> command =
          List.of(
              python.toString(),
              "-m",
              "pip",
              "install",
              "--quiet",
              "--disable-pip-version-check",
              "--no-deps",
              "--only-binary=:all:",
              "--target=" + draft,
              "uv==" + VERSION);
      Programs.Result result = Programs.run(command, Map.of(), FETCH_LIMIT);
      if (result.succeeded()) {
        Files.move(draft, directory, StandardCopyOption.ATOMIC_MOVE);
        return;
      }
      failure = result.errors().strip();
      if (!failure.contains("No module named pip")) {
        break; // The network is the same for another Python.
      }
    }
    PrivateFiles.deleteTree(draft);
    throw new StartFailed(
        ("uv, which installs the agents' packages, is not installed and could not be downloaded%s. "
                + "Install uv %s on the PATH.")
            .formatted(failure.isEmpty() ? "" : " (" + lastLine(failure) + ")", VERSION));
  }

  private static List<Path> pythons() {
    return Interpreters.searchDirectories().stream()
        .map(directory -> directory.resolve("python3"))
        .filter(Programs::isProgram)
        .toList();
  }

  private static String lastLine(String text) {
    return text.lines().reduce("", (first, second) -> second);
  }
}
