package dev.roost.runtime.kubernetes;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * The body of a response. Closing a body that was read completely would close the connection, which
 * the next request may use already, so only an incomplete one is closed.
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
