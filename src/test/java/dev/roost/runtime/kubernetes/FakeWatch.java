package dev.roost.runtime.kubernetes;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** One connection of a watch. */
final class FakeWatch {
  private static final String END = "";

  /** Of the request. */
  final String query;

  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  FakeWatch(String query) {
    this.query = query;
  }

  /**
   * @param type such as {@code ADDED}
   */
  void send(String type, String object) {
    lines.add("{\"type\": \"%s\", \"object\": %s}".formatted(type, object.replace('\n', ' ')));
  }

  /** As the API server does when the watch's time is over. */
  void end() {
    lines.add(END);
  }

  void serve(HttpExchange exchange) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, 0);
    try (var stream = exchange.getResponseBody()) {
      stream.flush();
      for (String line = lines.take(); !line.equals(END); line = lines.take()) {
        stream.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        stream.flush();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
