package dev.roost.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A way to a local port that can go silent: then nothing gets through, and no end of a connection
 * hears that of the other, as when a machine vanishes.
 */
final class Partition implements AutoCloseable {
  private final ServerSocket server;
  private final int port;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean silent;

  Partition(int port) throws IOException {
    this.port = port;
    this.server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    thread(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  void goSilent() {
    silent = true;
  }

  void heal() {
    silent = false;
  }

  private void accept() throws IOException {
    while (true) {
      Socket from = server.accept();
      sockets.add(from);
      if (!silent) {
        Socket to = new Socket(InetAddress.getLoopbackAddress(), port);
        sockets.add(to);
        thread(() -> copy(from, to));
        thread(() -> copy(to, from));
      }
    }
  }

  private void copy(Socket from, Socket to) throws IOException {
    InputStream in = from.getInputStream();
    OutputStream out = to.getOutputStream();
    byte[] bytes = new byte[8_192];
    for (int read = in.read(bytes); read >= 0 && !silent; read = in.read(bytes)) {
      out.write(bytes, 0, read);
      out.flush();
    }
    if (!silent) {
      to.close();
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void thread(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException e) {
                // The connection, or the test, has ended.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
