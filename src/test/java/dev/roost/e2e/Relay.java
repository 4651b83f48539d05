package dev.roost.e2e;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The way from executors to control planes, through this process: to any of several, as a service
 * has it, and it can be cut.
 */
final class Relay implements AutoCloseable {
  private static final int CONNECT_MILLIS = 2_000;

  private final ServerSocket listener;
  private final List<Integer> ports;
  private final ConcurrentHashMap.KeySetView<Closeable, Boolean> open =
      ConcurrentHashMap.newKeySet();
  private volatile boolean isCut;

  /**
   * @param ports of this machine; each connection goes to any that takes it
   */
  Relay(Integer... ports) {
    this.ports = List.of(ports);
    try {
      listener = new ServerSocket(0, 200);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Whether somebody is connected. */
  boolean isUsed() {
    return !open.isEmpty();
  }

  /** From now on nothing gets through, and nobody is told. */
  void cut() {
    isCut = true;
  }

  /** New connections get through again; what was silent ends. */
  void heal() {
    isCut = false;
    closeAll();
  }

  private void accept() {
    try {
      while (true) {
        Socket from = listener.accept();
        open.add(from);
        start(() -> connect(from));
      }
    } catch (IOException e) {
      closeAll(); // It was closed.
    }
  }

  private void connect(Socket from) {
    if (isCut) {
      return;
    }
    int first = ThreadLocalRandom.current().nextInt(ports.size());
    for (int i = 0; i < ports.size(); i++) {
      Socket to = new Socket();
      try {
        to.connect(
            new InetSocketAddress(
                InetAddress.getLoopbackAddress(), ports.get((first + i) % ports.size())),
            CONNECT_MILLIS);
      } catch (IOException e) {
        end(to);
        continue; // That one isn't there now.
      }
      open.add(to);
      start(() -> copy(from, to));
      copy(to, from);
      return;
    }
    end(from);
  }

  private void copy(Socket from, Socket to) {
    byte[] bytes = new byte[1 << 16];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        if (isCut) {
          return; // Both ends stay open, and hear nothing.
        }
        out.write(bytes, 0, read);
      }
    } catch (IOException e) {
      // One of the two has gone: so must the other.
    }
    if (!isCut) {
      end(from);
      end(to);
    }
  }

  private void end(Closeable socket) {
    open.remove(socket);
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void closeAll() {
    new ArrayList<>(open).forEach(this::end);
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "relay");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    end(listener);
    closeAll();
  }
}
