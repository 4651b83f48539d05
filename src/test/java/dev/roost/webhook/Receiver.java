package dev.roost.webhook;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ServerSocketFactory;

/**
 * A receiver on loopback whose behaviour tests choose, down to single bytes. Ends with everything
 * that it holds open.
 */
public final class Receiver implements AutoCloseable {
  private final ServerSocket server;
  private final Thread accepting;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();
  private volatile Behaviour behaviour = answer(204);

  /** What a receiver does with a request; afterwards the connection is closed. */
  @FunctionalInterface
  public interface Behaviour {
    void handle(Request request, Socket socket) throws IOException, InterruptedException;
  }

  /**
   * A request that has come.
   *
   * @param headers by names in lower case
   */
  public record Request(String line, Map<String, String> headers, byte[] body) {
    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    public String header(String name) {
      return headers.get(name);
    }
  }

  public Receiver() {
    this(ServerSocketFactory.getDefault());
  }

  Receiver(ServerSocketFactory sockets) {
    try {
      server = sockets.createServerSocket(0, 100, InetAddress.getByName("127.0.0.1"));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    accepting = thread(this::accept);
  }

  public static Behaviour answer(int status) {
    return answer(status, "", "");
  }

  /**
   * @param headers with a line end after each
   */
  public static Behaviour answer(int status, String headers, String body) {
    return (request, socket) -> {
      String head =
          "HTTP/1.1 %d X\r\nContent-Length: %d\r\n%s\r\n".formatted(status, body.length(), headers);
      write(socket, head + body);
    };
  }

  /** Never answers, and waits until the other side hangs up. */
  public static Behaviour hang() {
    return (request, socket) -> {
      while (socket.getInputStream().read() >= 0) {
        // More of a request would not change anything.
      }
    };
  }

  static void write(Socket socket, String text) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  public void behave(Behaviour behaviour) {
    this.behaviour = behaviour;
  }

  public int port() {
    return server.getLocalPort();
  }

  public String url() {
    return "http://127.0.0.1:" + port() + "/hook";
  }

  /** Those that were read to their end, in their order. */
  public List<Request> requests() {
    return requests;
  }

  /** Connections that were ever made. */
  int connections() {
    return connections.get();
  }

  /** Connections that are open now. */
  int open() {
    return sockets.size();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        connections.incrementAndGet();
        sockets.add(socket);
        thread(() -> serve(socket));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      Request request = read(new BufferedInputStream(socket.getInputStream()));
      requests.add(request);
      behaviour.handle(request, socket);
    } catch (IOException | InterruptedException e) {
      // The other side hung up, or the test has ended.
    } finally {
      sockets.remove(socket);
    }
  }

  private static Request read(InputStream in) throws IOException {
    String line = line(in);
    Map<String, String> headers = new HashMap<>();
    for (String header = line(in); !header.isEmpty(); header = line(in)) {
      int colon = header.indexOf(':');
      if (colon < 0) {
        throw new EOFException("no HTTP");
      }
      headers.put(
          header.substring(0, colon).toLowerCase(Locale.ROOT), header.substring(colon + 1).strip());
    }
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    return new Request(line, headers, in.readNBytes(length));
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException();
      }
      if (c != '\r') {
        line.write(c);
      }
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "receiver");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Returns when connections are refused. */
  @Override
  public void close() {
    try {
      server.close();
      accepting.join(); // While it is in its system call, the kernel still takes connections.
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
