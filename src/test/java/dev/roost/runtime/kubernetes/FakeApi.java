package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Answers single requests as an API server does; what it was not told about, is not there. */
final class FakeApi implements AutoCloseable {
  private final HttpServer server;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  private final BlockingQueue<FakeWatch> watches = new LinkedBlockingQueue<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  final List<String> requests = new CopyOnWriteArrayList<>();
  final KubernetesClient client;

  private record Answer(int status, String body) {}

  FakeApi() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext(
        "/",
        exchange -> {
          String query = String.valueOf(exchange.getRequestURI().getQuery());
          boolean watch = query.contains("watch=true");
          String request =
              (watch ? "WATCH" : exchange.getRequestMethod())
                  + " "
                  + exchange.getRequestURI().getPath()
                  + (query.contains("limit=1") ? "?limit=1" : "");
          requests.add(request);
          exchange.getRequestBody().readAllBytes();
          Answer answer = answers.getOrDefault(request, status(404, "NotFound"));
          if (watch && answer.status() == 200) {
            FakeWatch connected = new FakeWatch(query);
            watches.add(connected);
            connected.serve(exchange);
            return;
          }
          byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(answer.status(), body.length);
          try (var stream = exchange.getResponseBody()) {
            stream.write(body);
          }
        });
    server.setExecutor(threads); // a watch lasts
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder(io.fabric8.kubernetes.client.Config.empty())
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withRequestRetryBackoffLimit(0)
                    .withConnectionTimeout(30_000)
                    .withRequestTimeout(30_000)
                    .build())
            .build();
  }

  /**
   * @param request such as {@code GET /api/v1/…}, {@code GET /api/v1/…?limit=1} or {@code WATCH
   *     /api/v1/…}; a watch that gets the status 200 has no body, but a {@link FakeWatch}
   */
  void answer(String request, int status, String body) {
    answers.put(request, new Answer(status, body));
  }

  void refuse(String request, int status, String reason) {
    answers.put(request, status(status, reason));
  }

  private static Answer status(int status, String reason) {
    return new Answer(
        status,
        """
        {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "%s", "code": %d,
         "message": "refused: %s"}"""
            .formatted(reason, status, reason));
  }

  /** The next watch that has been connected. */
  FakeWatch watch() {
    try {
      FakeWatch next = watches.poll(60, TimeUnit.SECONDS);
      assertNotNull(next, "nothing is watched");
      return next;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** From now on nobody listens. */
  void stop() {
    server.stop(0);
  }

  @Override
  public void close() {
    client.close();
    server.stop(0);
    threads.shutdownNow();
  }
}
