package dev.roost.executor;

import dev.roost.config.RoostConfig;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.vertx.http.runtime.filters.QuarkusRequestWrapper;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.SSLOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;

/**
 * A separate port for executors, when the settings define one: the network can then keep processes
 * that run users' scripts away from the API. That port serves only the executor link, and no other
 * port serves the link. With a certificate, the port accepts only TLS.
 */
@ApplicationScoped
public class LinkServer {
  private static final Logger LOG = Logger.getLogger(LinkServer.class);
  static final String LINK = "/internal/";
  private static final int BEFORE_ALL = Integer.MIN_VALUE;
  private static final int NOT_FOUND = 404;
  private static final long LIMIT_SECONDS = 10;
  private static final long LOOK_MILLIS = 30_000;

  private static final int UNAUTHORIZED = 401;
  private static final int SERVER_ERROR = 500;

  private static final Pattern SENT =
      Pattern.compile("[0-9a-f]{32,}+|Bearer \\S++", Pattern.CASE_INSENSITIVE);

  private final ThrottledLog throttledLog = new ThrottledLog(LOG);
  private final Vertx vertx;
  private final String host;
  private final Optional<Integer> port;
  private final int mostConnections;
  private final AtomicInteger open = new AtomicInteger();
  private final Optional<LinkCertificate> certificate;
  private PemKeyCertOptions used;
  private Router router;
  private HttpServer server;

  LinkServer(Vertx vertx, RoostConfig config) {
    this.vertx = vertx;
    this.host = config.host();
    this.port = config.internalPort();
    this.mostConnections = config.limits().connections();
    this.certificate = LinkCertificate.of(config);
  }

  void routes(@Observes Router mainRouter) {
    router = mainRouter;
    mainRouter.route(LINK + "*").order(BEFORE_ALL).handler(this::logFailures);
    port.ifPresent(
        number ->
            mainRouter
                .route()
                .order(BEFORE_ALL)
                .handler(
                    context -> {
                      // The normalized path: "/internal/../v1" is "/v1".
                      boolean link = isLink(context.normalizedPath());
                      if (link == (context.request().localAddress().port() == number)) {
                        context.next();
                      } else {
                        context.response().setStatusCode(NOT_FOUND).end();
                      }
                    }));
  }

  void start(@Observes StartupEvent event) throws Exception {
    if (port.isPresent()) {
      server =
          vertx
              .createHttpServer(options())
              .connectionHandler(this::admit)
              .exceptionHandler(this::sayWhatBreaks)
              .requestHandler(this::serve)
              .listen(port.get(), host)
              .toCompletionStage()
              .toCompletableFuture()
              .get(LIMIT_SECONDS, TimeUnit.SECONDS);
      if (certificate.isPresent()) {
        vertx.setPeriodic(LOOK_MILLIS, id -> vertx.executeBlocking(this::takeNewCertificate, true));
      }
    }
  }

  /** The API's port has the same limit, counted separately. */
  private void admit(HttpConnection connection) {
    connection.closeHandler(closed -> open.decrementAndGet());
    if (open.incrementAndGet() > mostConnections) {
      connection.close();
    }
  }

  /** Logs failures before a request: a failed TLS handshake, or bytes that aren't HTTP. */
  private void sayWhatBreaks(Throwable failure) {
    throttledLog.warn("a connection of an executor failed", text(failure));
  }

  /**
   * Logs failed requests: a rejected executor retries or exits, and has no other way to report it.
   */
  private void logFailures(RoutingContext context) {
    context.addEndHandler(
        done -> {
          int status = context.response().getStatusCode();
          if (status >= SERVER_ERROR || status == UNAUTHORIZED) {
            String cause = context.failure() == null ? "" : ": " + text(context.failure());
            throttledLog.warn("an executor's request was not served", "status " + status + cause);
          }
        });
    context.next();
  }

  /**
   * Removes the received bytes: the error for plain HTTP on a TLS port contains them, with the
   * token.
   */
  private static String text(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    if (root instanceof ClosedChannelException) {
      return "it was closed during the TLS handshake";
    }
    String text = root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    return SENT.matcher(text).replaceAll("…");
  }

  private HttpServerOptions options() throws IOException {
    HttpServerOptions options = new HttpServerOptions().setHttp2ClearTextEnabled(false);
    if (certificate.isPresent()) {
      used = certificate.get().read();
      options.setSsl(true).setKeyCertOptions(used);
    }
    return options;
  }

  /**
   * Uses the files' contents for new connections, if they have changed. Contents that can't be used
   * are logged, and tried again after the next change.
   *
   * @return whether the certificate is new
   */
  synchronized boolean takeNewCertificate() {
    try {
      PemKeyCertOptions now = certificate.orElseThrow().read();
      if (LinkCertificate.same(used, now)) {
        return false;
      }
      used = now;
      server
          .updateSSLOptions(new SSLOptions().setKeyCertOptions(now))
          .toCompletionStage()
          .toCompletableFuture()
          .get(LIMIT_SECONDS, TimeUnit.SECONDS);
      LOG.info("the executors' port uses a new certificate");
      return true;
    } catch (IOException | ExecutionException | TimeoutException e) {
      LOG.warnf("the new certificate of the executors' port cannot be used: %s", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  void stop(@Observes ShutdownEvent event) {
    if (server != null) {
      server.close();
    }
  }

  /** Includes paths with parameters ("/internal;x/v1"), which RESTEasy would strip. */
  private static boolean isLink(String path) {
    return path.startsWith(LINK) || path.startsWith("/internal;");
  }

  /** Checks the raw path, too: "/internal/../v1/agents" is not part of the link. */
  private void serve(HttpServerRequest request) {
    if (request.path() != null && request.path().startsWith(LINK)) {
      // As Quarkus does on its own ports: its access log expects the wrapper.
      router.handle(new QuarkusRequestWrapper(request, (cookie, wrapped) -> {}));
    } else {
      request.response().setStatusCode(NOT_FOUND).end();
    }
  }
}
