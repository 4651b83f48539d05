package dev.roost.e2e;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

/**
 * What scripts tell this process past Roost, so that it knows what they really did. In Python: a
 * connection to {@link #address}, one line of text, and a byte back when it is noted.
 */
final class Tally implements AutoCloseable {
  /** The function that scripts call. */
  static final String TELL =
      """
      import socket

      def tell(address, text):
          with socket.create_connection(address) as connection:
              connection.sendall(text.encode() + b"\\n")
              connection.recv(1)
      """;

  private final ServerSocket listener;
  private final ConcurrentLinkedQueue<String> told = new ConcurrentLinkedQueue<>();
  private int answered = Integer.MAX_VALUE;

  Tally() {
    listener = ScriptListener.open();
    Thread thread = new Thread(this::accept, "tally");
    thread.setDaemon(true);
    thread.start();
  }

  /** Host and port as a JSON array. */
  String address() {
    return ScriptListener.address(listener);
  }

  /** Everything, in its order. */
  List<String> told() {
    return List.copyOf(told);
  }

  /** How often each thing was told. */
  Map<String, Long> counts() {
    return told.stream().collect(Collectors.groupingBy(text -> text, Collectors.counting()));
  }

  /** Lets scripts go on once they have told this many things in all; those after it wait. */
  synchronized void answerUntil(int count) {
    answered = count;
    notifyAll();
  }

  private synchronized void awaitAnswer() throws InterruptedIOException {
    try {
      while (told.size() > answered && !listener.isClosed()) {
        wait();
      }
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    }
  }

  private void accept() {
    try {
      while (true) {
        try (Socket socket = listener.accept();
            BufferedReader reader =
                new BufferedReader(
                    new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
          String line = reader.readLine();
          if (line != null) {
            told.add(line);
            awaitAnswer();
            socket.getOutputStream().write(1);
          }
        } catch (IOException e) {
          if (listener.isClosed()) {
            return;
          }
          // Whoever connected has gone.
        }
      }
    } finally {
      close();
    }
  }

  @Override
  public synchronized void close() {
    try {
      listener.close();
      notifyAll();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
