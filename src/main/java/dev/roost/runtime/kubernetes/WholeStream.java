package dev.roost.runtime.kubernetes;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * The body of an answer, left alone when it has been read to its end: closing it would take away
 * the connection, on which the next question may be on its way already.
 */
final class WholeStream extends FilterInputStream {
  private boolean ended;

  WholeStream(InputStream body) {
    super(body);
  }

  @Override
  public int read() throws IOException {
    int next = super.read();
    ended |= next < 0;
    return next;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int count = super.read(bytes, offset, length);
    ended |= count < 0;
    return count;
  }

  @Override
  public void close() throws IOException {
    if (!ended) {
      super.close();
    }
  }
}
