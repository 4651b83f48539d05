package dev.roost.e2e;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A package index over HTTPS, with a password and a certificate authority of its own. */
final class TestIndex implements AutoCloseable {
  static final String USER = "reader";

  private final HttpsServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final TestCertificates certificates;
  private final String host;
  private final String authorization;
  private final Map<String, TestPackage> packages = new ConcurrentHashMap<>();

  /**
   * @param host this machine's address as pods reach it
   */
  TestIndex(String host, String password) {
    this.host = host;
    certificates = new TestCertificates(host);
    String login = USER + ":" + password;
    authorization =
        "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8));
    try {
      server = HttpsServer.create(new InetSocketAddress(0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setHttpsConfigurator(new HttpsConfigurator(certificates.context()));
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  void add(TestPackage one) {
    packages.put(one.name(), one);
  }

  String url() {
    return "https://" + host + ":" + server.getAddress().getPort() + "/simple/";
  }

  /** The authority's certificate, PEM. */
  String authority() {
    return certificates.authority();
  }

  /** A netrc file with a password for this index, right or wrong. */
  String netrc(String password) {
    return "machine %s\nlogin %s\npassword %s\n".formatted(host, USER, password);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      if (!authorization.equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
        exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"index\"");
        exchange.sendResponseHeaders(401, -1);
        return;
      }
      String[] path = exchange.getRequestURI().getPath().split("/");
      TestPackage one = path.length < 3 ? null : packages.get(path[2]);
      if (one == null) {
        exchange.sendResponseHeaders(404, -1);
        return;
      }
      byte[] content = one.content();
      if (path[1].equals("simple")) {
        exchange.getResponseHeaders().set("Content-Type", "text/html");
        content =
            "<!DOCTYPE html><html><body><a href=\"/files/%s/%s#sha256=%s\">%s</a></body></html>"
                .formatted(one.name(), one.file(), one.sha256(), one.file())
                .getBytes(StandardCharsets.UTF_8);
      }
      if (exchange.getRequestMethod().equals("HEAD")) {
        exchange.getResponseHeaders().set("Content-Length", Integer.toString(content.length));
        exchange.sendResponseHeaders(200, -1);
      } else {
        exchange.sendResponseHeaders(200, content.length);
        exchange.getResponseBody().write(content);
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
