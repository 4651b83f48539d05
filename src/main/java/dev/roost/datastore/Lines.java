package dev.roost.datastore;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Splits a stream at its line feeds, with at most one line in memory. */
final class Lines {
  private static final int BUFFER_BYTES = 1 << 16;

  private final InputStream stream;
  private final long maxLineBytes;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private int position;
  private int end;
  private long bytes;
  private long number;

  Lines(InputStream stream, long maxLineBytes) {
    this.stream = stream;
    this.maxLineBytes = maxLineBytes;
  }

  /** A line is longer than the limit. */
  static final class TooLong extends Exception {}

  /**
   * The next line without its line feed.
   *
   * @return null at the end
   */
  byte[] next() throws IOException, TooLong {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    boolean begun = false;
    while (position < end || fill()) {
      if (!begun) {
        number++;
        begun = true;
      }
      int from = position;
      while (position < end && buffer[position] != '\n') {
        position++;
      }
      if (line.size() + position - from > maxLineBytes) {
        throw new TooLong();
      }
      line.write(buffer, from, position - from);
      if (position < end) {
        position++;
        return line.toByteArray();
      }
    }
    return begun ? line.toByteArray() : null;
  }

  /** The number of the last line that was read, from 1; 0 before the first. */
  long number() {
    return number;
  }

  /** The number of bytes that were read. */
  long bytes() {
    return bytes;
  }

  private boolean fill() throws IOException {
    int read = stream.read(buffer);
    position = 0;
    end = Math.max(read, 0);
    bytes += end;
    return read > 0;
  }
}
