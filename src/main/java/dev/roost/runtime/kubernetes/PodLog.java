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
 * Reads a container's output in repeated requests, each from the last position, without following
 * it: a followed stream can end or hang silently. The API accepts only whole seconds, so a response
 * repeats the lines of the last second; they are skipped by their number.
 */
final class PodLog {
  /**
   * Opens the output from a time on, with a timestamp before each line; null: there is none yet.
   */
  @FunctionalInterface
  interface Source {
    InputStream open(Instant since);
  }

  /** The approximate limit of one call; the next call continues. */
  private static final int MAX_CHARACTERS = 4 << 20;

  /** The limit of a line; the rest is cut. */
  static final int MAX_LINE = 65_536;

  private static final String CUT = "…";

  private final Source source;

  /** The second of the last line that was read, and how many lines of that second were read. */
  private Instant second = Instant.EPOCH;

  private int inSecond;
  private boolean more;

  PodLog(Source source) {
    this.source = source;
  }

  /** Whether the last call reached its limit before the end of the output. */
  boolean hasMore() {
    return more;
  }

  /**
   * The lines since the last call. A call that fails reads nothing, and the next one starts at the
   * same position.
   *
   * @param ended whether the container has ended, so that a last line without newline is complete
   */
  List<String> next(boolean ended) throws IOException {
    List<String> fresh = new ArrayList<>();
    Instant last = second;
    int ofLast = 0;
    int again = inSecond;
    int characters = 0;
    boolean enough = false;
    try (InputStream stream = source.open(second)) {
      if (stream == null) {
        return fresh;
      }
      BufferedReader reader =
          new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
      for (String line = line(reader, ended); line != null; line = line(reader, ended)) {
        int blank = line.indexOf(' ');
        Instant at = time(blank < 0 ? line : line.substring(0, blank), last);
        if (at.isAfter(last)) {
          last = at;
          ofLast = 0;
        }
        // After a clock was set back, the next response won't contain this line.
        ofLast += at.isBefore(last) ? 0 : 1;
        if (again > 0) {
          again--;
        } else {
          fresh.add(line.substring(blank + 1));
          characters += line.length();
          enough = characters >= MAX_CHARACTERS;
          if (enough) {
            break;
          }
        }
      }
    }
    second = last;
    inSecond = ofLast;
    more = enough;
    return fresh;
  }

  /**
   * @param otherwise the result when the text is no time, as in messages of the kubelet itself
   */
  private static Instant time(String text, Instant otherwise) {
    try {
      return Instant.parse(text).truncatedTo(ChronoUnit.SECONDS);
    } catch (DateTimeException e) {
      return otherwise;
    }
  }

  /** Up to the next newline. A carriage return, as in progress bars, is part of the line. */
  private static String line(BufferedReader reader, boolean ended) throws IOException {
    StringBuilder line = new StringBuilder();
    boolean cut = false;
    for (int c = reader.read(); c != '\n'; c = reader.read()) {
      if (c < 0) {
        return ended && !line.isEmpty() ? line.toString() : null;
      }
      if (line.length() < MAX_LINE) {
        line.append((char) c);
      } else {
        cut = true;
      }
    }
    return cut ? line + CUT : line.toString();
  }
}
