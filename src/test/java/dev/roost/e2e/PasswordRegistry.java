package dev.roost.e2e;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Asks for a password, and passes on to a registry that doesn't. */
final class PasswordRegistry implements AutoCloseable {
  static final String USER = "pusher";

  /** Between two neighbours only, or not ours to say. */
  private static final Set<String> OWN =
      Set.of(
          "authorization",
          "connection",
          "content-length",
          "expect",
          "host",
          "transfer-encoding",
          "upgrade");

  private final HttpClient http = HttpClient.newHttpClient();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpServer server;
  private final String host;
  private final String target;
  private final String authorization;
  private volatile int deletions;

  /**
   * @param host this machine's address as pods reach it
   * @param target host and port of the registry as this machine reaches it
   */
  PasswordRegistry(String host, String target, String password) {
    this.host = host;
    this.target = target;
    authorization = "Basic " + base64(USER + ":" + password);
    try {
      server = HttpServer.create(new InetSocketAddress(0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  /** Host and port, as pods reach it. */
  String address() {
    return host + ":" + server.getAddress().getPort();
  }

  /**
   * @param status of the answers to those who delete something; 0: the registry's own
   */
  void answerDeletions(int status) {
    deletions = status;
  }

  /** What a Secret of the type kubernetes.io/dockerconfigjson holds. */
  String credentials(String password) {
    Map<String, String> login = Map.of("auth", base64(USER + ":" + password));
    return HttpAnswer.write(Map.of("auths", Map.of(address(), login)));
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      Headers headers = exchange.getRequestHeaders();
      if (!authorization.equals(headers.getFirst("Authorization"))) {
        exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"registry\"");
        exchange.sendResponseHeaders(401, -1);
        return;
      }
      if (exchange.getRequestMethod().equals("DELETE") && deletions > 0) {
        byte[] problem =
            "{\"errors\": [{\"code\": \"%s\", \"message\": \"not here\"}]}"
                .formatted(deletions == 405 ? "UNSUPPORTED" : "DENIED")
                .getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(deletions, problem.length);
        exchange.getResponseBody().write(problem);
        return;
      }
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create("http://" + target + exchange.getRequestURI()))
              .method(
                  exchange.getRequestMethod(),
                  body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
      headers.forEach(
          (name, values) -> {
            if (!OWN.contains(name.toLowerCase(Locale.ROOT))) {
              values.forEach(value -> request.header(name, value));
            }
          });
      HttpResponse<byte[]> answer = http.send(request.build(), BodyHandlers.ofByteArray());
      answer.headers().map().forEach((name, values) -> pass(exchange, name, values));
      boolean head = exchange.getRequestMethod().equals("HEAD");
      answer
          .headers()
          .firstValue("Content-Length")
          .filter(length -> head)
          .ifPresent(length -> exchange.getResponseHeaders().set("Content-Length", length));
      boolean empty = head || answer.body().length == 0;
      exchange.sendResponseHeaders(answer.statusCode(), empty ? -1 : answer.body().length);
      if (!empty) {
        exchange.getResponseBody().write(answer.body());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void pass(HttpExchange exchange, String name, List<String> values) {
    if (name.equalsIgnoreCase("location")) {
      // Relative, or the next request would go past this.
      URI location = URI.create(values.get(0));
      String query = location.getRawQuery();
      exchange
          .getResponseHeaders()
          .set(name, location.getRawPath() + (query == null ? "" : "?" + query));
    } else if (!OWN.contains(name.toLowerCase(Locale.ROOT))) {
      exchange.getResponseHeaders().put(name, values);
    }
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
