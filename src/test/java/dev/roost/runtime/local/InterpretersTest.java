package dev.roost.runtime.local;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InterpretersTest {
  @TempDir Path directory;

  @Test
  void theNewestPatchOfEachMinorVersionIsOffered() throws Exception {
    Interpreters found = found("3.11.2", "3.11.10", "3.11.9", "3.9.18");
    assertEquals(List.of("3.9", "3.11"), found.versions());
    assertEquals("3.11.10", found.get("3.11").orElseThrow().version());
  }

  @Test
  void whatIsTooOldTooNewOrNoCPythonIsNotOffered() throws Exception {
    String pypy = entry("3.10.4").replace("cpython", "pypy");
    String freeThreaded = entry("3.14.1").replace("default", "freethreaded");
    String json =
        "["
            + String.join(",", pypy, freeThreaded, entry("2.7.18"), entry("3.8.1"), entry("3.12.1"))
            + "]";
    assertEquals(List.of("3.12"), Interpreters.of(json).versions());
  }

  @Test
  void python313IsTheDefaultWhereItIsInstalled() throws Exception {
    assertEquals("3.13", found("3.11.2", "3.13.0", "3.14.0").defaultVersion());
    assertEquals("3.14", found("3.11.2", "3.14.0").defaultVersion());
    assertEquals("3.12", found("3.12.1").defaultVersion());
  }

  @Test
  void aLinkIsFollowedToTheInterpreterItself() throws Exception {
    Path real = Files.createFile(directory.resolve("python3.12-real"));
    Path link = Files.createSymbolicLink(directory.resolve("python"), real);
    String json = "[" + entry("3.12.1", link) + "]";
    assertEquals(real.toRealPath(), Interpreters.of(json).get("3.12").orElseThrow().executable());
  }

  @Test
  void noPythonAtAllIsReportedWithWhatToDo() {
    StartFailed failure = assertThrows(StartFailed.class, () -> Interpreters.of("[]"));
    assertTrue(failure.getMessage().contains("Install one"), failure.getMessage());
  }

  private Interpreters found(String... versions) throws Exception {
    return Interpreters.of(
        Stream.of(versions).map(this::entry).collect(Collectors.joining(",", "[", "]")));
  }

  private String entry(String version) {
    try {
      Path executable = directory.resolve("python" + version);
      if (!Files.exists(executable)) {
        Files.createFile(executable);
      }
      return entry(version, executable);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String entry(String version, Path executable) {
    String[] parts = version.split("\\.");
    return """
        {"version": "%s", "path": "%s", "implementation": "cpython", "variant": "default",
         "version_parts": {"major": %s, "minor": %s, "patch": %s}}"""
        .formatted(version, executable, parts[0], parts[1], parts[2]);
  }
}
