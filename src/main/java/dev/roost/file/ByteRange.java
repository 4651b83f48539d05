package dev.roost.file;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bytes of a file that a request asks for; RFC 9110, 14.1.2.
 *
 * @param first from 0 on
 * @param last the last one, included
 */
record ByteRange(long first, long last) {
  /** Longer numbers are beyond any file. */
  private static final Pattern ONE = Pattern.compile("bytes=(\\d{0,18})-(\\d{0,18})");

  /** There are no such bytes. */
  static final class Unsatisfiable extends Exception {
    private static final long serialVersionUID = 1;
  }

  /**
   * @param header null: none
   * @return empty: the whole file, also for headers that have several ranges or other units, which
   *     servers may ignore
   */
  static Optional<ByteRange> parse(String header, long size) throws Unsatisfiable {
    Matcher matcher = ONE.matcher(header == null ? "" : header.strip());
    if (!matcher.matches() || matcher.group(1).isEmpty() && matcher.group(2).isEmpty()) {
      return Optional.empty();
    }
    if (matcher.group(1).isEmpty()) {
      long length = Math.min(Long.parseLong(matcher.group(2)), size);
      if (length == 0) {
        throw new Unsatisfiable();
      }
      return Optional.of(new ByteRange(size - length, size - 1));
    }
    long first = Long.parseLong(matcher.group(1));
    long last = matcher.group(2).isEmpty() ? Long.MAX_VALUE : Long.parseLong(matcher.group(2));
    if (last < first) {
      return Optional.empty(); // invalid, so it is ignored, unlike one beyond the end
    }
    if (first >= size) {
      throw new Unsatisfiable();
    }
    return Optional.of(new ByteRange(first, Math.min(last, size - 1)));
  }

  long length() {
    return last - first + 1;
  }
}
