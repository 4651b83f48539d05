package dev.roost.e2e;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Takes the lines that scripts send past Roost, each over a connection of its own that it keeps.
 * Nothing is acknowledged: what a process has sent arrives, also when it is killed right after. The
 * only answer is the end of the other direction, which means that it is enough. (A byte that isn't
 * read would make the end of the process a reset, which takes what wasn't read here with it.)
 */
final class LineSink implements AutoCloseable {
  private final ServerSocket listener = ScriptListener.open();
  private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
  private final List<Socket> sockets = new ArrayList<>();
  private final List<Thread> readers = new ArrayList<>();
  private boolean enough;

  LineSink() {
    thread("sink", this::accept);
  }

  /** Host and port as a JSON array. */
  String address() {
    return ScriptListener.address(listener);
  }

  /** Those of one process in their order. */
  List<String> lines() {
    return List.copyOf(lines);
  }

  /** How many there are; of one process or of many. */
  int count() {
    return lines.size();
  }

  /** Says so to all that are there and all that will come. */
  synchronized void enough() {
    enough = true;
    sockets.forEach(LineSink::tell);
  }

  /** Waits until all have closed their connections. */
  void awaitEnd() {
    Eventually.until(
        "all connections of scripts have ended",
        () -> {
          synchronized (this) {
            return readers.stream().noneMatch(Thread::isAlive);
          }
        });
  }

  private void accept() {
    try {
      while (true) {
        arrive(listener.accept());
      }
    } catch (IOException e) {
      // It was closed.
    }
  }

  private synchronized void arrive(Socket socket) {
    sockets.add(socket);
    readers.add(thread("sink " + socket.getPort(), () -> read(socket)));
    if (enough) {
      tell(socket);
    }
  }

  private void read(Socket socket) {
    try (socket;
        BufferedReader reader =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      // Its process was killed; all that it sent has been read.
    }
  }

  private static void tell(Socket socket) {
    try {
      socket.shutdownOutput();
    } catch (IOException e) {
      // It has gone.
    }
  }

  private static Thread thread(String name, Runnable code) {
    Thread thread = new Thread(code, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  @Override
  public synchronized void close() {
    try {
      listener.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
