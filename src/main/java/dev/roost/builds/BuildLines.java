package dev.roost.builds;

import dev.roost.log.LogEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Converts the output of a build to log entries. Packages run their own code during a build, so the
 * number of lines is limited.
 */
final class BuildLines {
  static final int MOST_LINES = 20_000;
  static final int LINE_CHARACTERS = 16_384;
  static final String CUT =
      "The rest of the output was left out here: the log had reached its limit.";

  private BuildLines() {}

  /**
   * @param last the number of the last stored entry
   */
  static List<LogEntry> entries(int last, List<String> lines, Instant now) {
    List<LogEntry> entries = new ArrayList<>();
    int seq = last;
    for (String line : lines) {
      if (seq > MOST_LINES) {
        return entries;
      }
      seq++;
      entries.add(
          seq > MOST_LINES
              ? new LogEntry(seq, now, "system", null, null, CUT, false)
              : new LogEntry(seq, now, "stdout", null, null, text(line), false));
    }
    return entries;
  }

  private static String text(String line) {
    String clean = line.replace('\0', '\ufffd');
    if (clean.length() <= LINE_CHARACTERS) {
      return clean;
    }
    boolean inPair = Character.isHighSurrogate(clean.charAt(LINE_CHARACTERS - 1));
    return clean.substring(0, inPair ? LINE_CHARACTERS - 1 : LINE_CHARACTERS) + " …";
  }
}
