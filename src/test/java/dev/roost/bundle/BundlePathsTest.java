package dev.roost.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BundlePathsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "main.py",
        "src/main.py",
        ".env",
        "...",
        "..a/b..",
        "with space/ä\uD83E\uDEB6.txt",
        "a:b",
        "~",
        "-rf",
        "\uFFFD"
      })
  void aPathCanBe(String path) {
    assertEquals(Optional.empty(), BundlePaths.mistake(path));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "./a",
        "a/.",
        "a/../b",
        "..\\a",
        "a\\b",
        "a\0b",
        "a\nb",
        "a\u007f",
        "a\u0085b",
        "\ud83e",
        "a/\udeb6b"
      })
  void aPathCanNotBe(String path) {
    assertTrue(BundlePaths.mistake(path).isPresent(), path);
  }

  @Test
  void lengthsAreThoseOfTheBytes() {
    assertEquals(Optional.empty(), BundlePaths.mistake("ä".repeat(127)));
    assertTrue(BundlePaths.mistake("ä".repeat(128)).isPresent());
    String segment = "x".repeat(203) + "/";
    assertEquals(Optional.empty(), BundlePaths.mistake(segment.repeat(5) + "x".repeat(4)));
    assertTrue(BundlePaths.mistake(segment.repeat(5) + "x".repeat(5)).isPresent());
    assertEquals(Optional.empty(), BundlePaths.mistake("a/".repeat(31) + "a"));
    assertTrue(BundlePaths.mistake("a/".repeat(32) + "a").isPresent());
  }

  @Test
  void aFileHasNoFilesBelowIt() {
    assertEquals(
        List.of(new BundlePaths.Conflict("a", "a/b"), new BundlePaths.Conflict("a/b", "a/b/c")),
        BundlePaths.conflicts(List.of("a", "a-b", "a.py", "a/b/c", "a/b", "b/a")));
    assertEquals(List.of(), BundlePaths.conflicts(List.of("a/b", "ab", "a b", "a!/b", "b/a/b")));
  }

  @Test
  void manyLongPathsTakeLittleTime() {
    List<String> paths = new ArrayList<>();
    String directory = ("x".repeat(30) + "/").repeat(31);
    for (int i = 0; i < 20_000; i++) {
      paths.add(directory + i);
    }
    assertTimeout(
        Duration.ofSeconds(10), () -> assertEquals(List.of(), BundlePaths.conflicts(paths)));
  }

  @Test
  void theOrderIsThatOfTheBytes() {
    List<String> paths =
        List.of("a", "a!b", "a/b", "aa", "ä", "z", "\uffee", "\uD83E\uDEB6", "\uD83E\uDEB7", "");
    for (String a : paths) {
      for (String b : paths) {
        int expected =
            Arrays.compareUnsigned(
                a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
        assertEquals(
            Integer.signum(expected), Integer.signum(BundlePaths.compare(a, b)), a + " " + b);
      }
    }
  }
}
