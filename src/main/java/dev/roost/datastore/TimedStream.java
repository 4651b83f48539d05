package dev.roost.datastore;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/** A stream that must be at its end in time; each single wait has a limit of its own. */
final class TimedStream extends FilterInputStream {
  private final long endNanos;

  TimedStream(InputStream stream, Duration time) {
    super(stream);
    this.endNanos = System.nanoTime() + time.toNanos();
  }

  /** The time is over. */
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
