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

  /** Characters of one call, about: the rest comes with the next one. */
  private static final int MAX_CHARACTERS = 4 << 20;

  /** Characters of a line; what is beyond them is left out. */
  static final int MAX_LINE = 65_536;

  private static final String CUT = "…";

  private final Source source;

  /** The second of the last line that was read, and how many lines it had so far. */
  private Instant second = Instant.EPOCH;

  private int inSecond;
  private boolean more;

  PodLog(Source source) {
    this.source = source;
  }

  /** Whether the last call left something, since it had enough. */
  boolean hasMore() {
    return more;
  }

  /**
   * The lines since the last call. One that fails has read nothing: the next begins where it did.
   *
   * @param ended whether the container has ended: then a last line counts without its newline
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
        // A clock that was set back: the next call won't be given this line again.
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
   * @param otherwise when it is no time: what the kubelet itself has to say
   */
  private static Instant time(String text, Instant otherwise) {
    try {
      return Instant.parse(text).truncatedTo(ChronoUnit.SECONDS);
    } catch (DateTimeException e) {
      return otherwise;
    }
  }

  /** Up to the next newline; a carriage return, as progress bars write it, is part of the line. */
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
