package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class RangeTest {
  private static final List<String> KEYS =
      List.of(
          "\u0000", "a", "a\u0000", "ab", "ab\u0000", "aba", "b", "\ud83d\ude00", "\udbff\udfff");

  /** Every combination of bounds, compared with the definition of each bound. */
  @Test
  void aRangeHasTheKeysThatEachOfItsBoundsAllows() {
    List<String> bounds = List.of("", "a", "a\u0000", "ab", "b", "\ud83d\ude00");
    for (String prefix : bounds) {
      for (String start : withNull(bounds)) {
        for (String after : withNull(bounds)) {
          for (String through : withNull(bounds)) {
            Range range = new Range(prefix, start, after, through);
            Range.Bounds found = range.bounds();
            List<String> expected =
                KEYS.stream()
                    .filter(key -> key.startsWith(prefix))
                    .filter(key -> start == null || compare(key, start) >= 0)
                    .filter(key -> after == null || compare(key, after) > 0)
                    .filter(key -> through == null || compare(key, through) <= 0)
                    .toList();
            assertEquals(
                expected,
                KEYS.stream().filter(key -> found.contain(bytes(key))).toList(),
                range.toString());
          }
        }
      }
    }
  }

  private static List<String> withNull(List<String> bounds) {
    List<String> all = new ArrayList<>(bounds);
    all.add(null);
    return all;
  }

  private static int compare(String one, String other) {
    return Arrays.compareUnsigned(bytes(one), bytes(other));
  }

  private static byte[] bytes(String key) {
    return key.getBytes(StandardCharsets.UTF_8);
  }
}
