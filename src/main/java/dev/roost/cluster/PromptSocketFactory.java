package dev.roost.cluster;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import javax.net.SocketFactory;

/**
 * Sockets for a connection that listens for notifications. After each notification, PostgreSQL's
 * driver ({@code PGStream.hasMessagePending}, 42.7) reads with a timeout of one millisecond, to
 * check for another notification, before it returns the first: half of a notification's latency
 * between replicas. These sockets answer such a read at once. A later notification is the result of
 * the next call.
 */
public final class PromptSocketFactory extends SocketFactory {
  private static final int PROBE_MILLIS = 1;

  @Override
  public Socket createSocket() {
    return new PromptSocket();
  }

  @Override
  public Socket createSocket(String host, int port) {
    throw new UnsupportedOperationException("the driver opens the connection");
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
    throw new UnsupportedOperationException("the driver opens the connection");
  }

  @Override
  public Socket createSocket(InetAddress host, int port) {
    throw new UnsupportedOperationException("the driver opens the connection");
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) {
    throw new UnsupportedOperationException("the driver opens the connection");
  }

  private static final class PromptSocket extends Socket {
    @Override
    public InputStream getInputStream() throws IOException {
      return new FilterInputStream(super.getInputStream()) {
        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
          if (getSoTimeout() == PROBE_MILLIS && available() == 0) {
            throw new SocketTimeoutException("nothing follows");
          }
          return super.read(bytes, offset, length);
        }
      };
    }
  }
}
