package dev.roost.builds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.log.LogEntry;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class BuildLinesTest {
  private static final Instant NOW = Instant.parse("2026-11-23T03:00:00Z");

  private static LogEntry line(int seq, String message) {
    return new LogEntry(seq, NOW, "stdout", null, null, message, false);
  }

  @Test
  void linesBecomeEntries() {
    assertEquals(
        List.of(line(8, "a\ufffd"), line(9, "")), BuildLines.entries(7, List.of("a\0", ""), NOW));
  }

  @Test
  void theRestOfTooManyIsLeftOut() {
    int most = BuildLines.MOST_LINES;
    LogEntry marker = new LogEntry(most + 1, NOW, "system", null, null, BuildLines.CUT, false);
    assertEquals(
        List.of(line(most, "a"), marker),
        BuildLines.entries(most - 1, List.of("a", "b", "c"), NOW));
    assertEquals(List.of(marker), BuildLines.entries(most, List.of("a"), NOW));
    assertEquals(List.of(), BuildLines.entries(most + 1, List.of("a", "b"), NOW));
  }

  @Test
  void aLongLineIsCut() {
    int most = BuildLines.LINE_CHARACTERS;
    String longest = "x".repeat(most);
    assertEquals(
        List.of(line(1, longest), line(2, longest + " …"), line(3, "x".repeat(most - 1) + " …")),
        BuildLines.entries(0, List.of(longest, longest + "y", "x".repeat(most - 1) + "🚀"), NOW));
  }
}
