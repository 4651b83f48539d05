package dev.roost.runtime.kubernetes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a container's output again and again, a little further each time, without following it: a
 * stream that is followed can end or hang in silence. The API takes only whole seconds, so the
 * lines of the last second come again and are passed over by their number.
 */
final class PodLog {
  /**
   * Opens the output from a time on, each line with its time before it; null: there is none yet.
   */
  @FunctionalInterface
  interface Source {
    InputStream open(Instant since);
  }

  private final Source source;

  /** The second of the last line that was read, and how many lines it had so far. */
  private Instant second = Instant.EPOCH;

  private int inSecond;

  PodLog(Source source) {
    this.source = source;
  }

  /**
   * The lines since the last call.
   *
   * @param ended whether the container has ended: then a last line counts without its newline
   */
  List<String> next(boolean ended) throws IOException {
    List<String> fresh = new ArrayList<>();
    int again = inSecond;
    try (InputStream stream = source.open(second)) {
      if (stream == null) {
        return fresh;
      }
      BufferedReader reader =
          new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
      inSecond = 0;
      for (String line = line(reader, ended); line != null; line = line(reader, ended)) {
        int blank = line.indexOf(' ');
        count(blank < 0 ? line : line.substring(0, blank));
        if (again > 0) {
          again--;
        } else {
          fresh.add(line.substring(blank + 1));
        }
      }
    }
    return fresh;
  }

  private void count(String time) {
    try {
      Instant at = Instant.parse(time).truncatedTo(ChronoUnit.SECONDS);
      if (at.isAfter(second)) {
        second = at;
        inSecond = 0;
      }
    } catch (DateTimeException e) {
      // Not a time: a part of the line before, or what the kubelet itself has to say.
    }
    inSecond++;
  }

  /** Up to the next newline; a carriage return, as progress bars write it, is part of the line. */
  private static String line(BufferedReader reader, boolean ended) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = reader.read(); c != '\n'; c = reader.read()) {
      if (c < 0) {
        return ended && !line.isEmpty() ? line.toString() : null;
      }
      line.append((char) c);
    }
    return line.toString();
  }
}
