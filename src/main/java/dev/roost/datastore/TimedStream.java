package dev.roost.datastore;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/** A stream with a deadline for its end; the timeout of single reads is separate. */
final class TimedStream extends FilterInputStream {
  private final long endNanos;

  TimedStream(InputStream stream, Duration time) {
    super(stream);
    this.endNanos = System.nanoTime() + time.toNanos();
  }

  /** The deadline has passed. */
  static final class TooSlow extends IOException {
    private static final long serialVersionUID = 1;
  }

  @Override
  public int read() throws IOException {
    check();
    return super.read();
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    check();
    return super.read(target, offset, length);
  }

  private void check() throws TooSlow {
    if (System.nanoTime() > endNanos) {
      throw new TooSlow();
    }
  }
}
