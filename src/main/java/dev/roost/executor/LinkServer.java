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
 * A port of its own for executors, when the settings ask for one: what runs users' scripts can then
 * be kept from the API by the network, too. Only that port serves the executor link, and it serves
 * nothing else. With a certificate it speaks TLS alone.
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

  private final ThrottledLog complaints = new ThrottledLog(LOG);
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
    mainRouter.route(LINK + "*").order(BEFORE_ALL).handler(this::sayWhatFails);
    port.ifPresent(
        number ->
            mainRouter
                .route()
                .order(BEFORE_ALL)
                .handler(
                    context -> {
                      // Not the path as it was sent: "/internal/../v1" is "/v1".
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

  /** The API's port has the same limit, of its own. */
  private void admit(HttpConnection connection) {
    connection.closeHandler(closed -> open.decrementAndGet());
    if (open.incrementAndGet() > mostConnections) {
      connection.close();
    }
  }

  /** Before there is a request: TLS that doesn't come about, or bytes that are no HTTP. */
  private void sayWhatBreaks(Throwable failure) {
    complaints.say("a connection of an executor failed", text(failure));
  }

  /** An executor that is refused goes on asking or ends, and has no other way to say so. */
  private void sayWhatFails(RoutingContext context) {
    context.addEndHandler(
        done -> {
          int status = context.response().getStatusCode();
          if (status >= SERVER_ERROR || status == UNAUTHORIZED) {
            String cause = context.failure() == null ? "" : ": " + text(context.failure());
            complaints.say("an executor's request was not served", "status " + status + cause);
          }
        });
    context.next();
  }

  /** Without what was sent: plain HTTP on a TLS port comes as a dump, its token included. */
  private static String text(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    if (root instanceof ClosedChannelException) {
      return "it was closed before TLS was agreed on";
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
   * Uses what the files hold, when that has changed, for connections from now on. What can't be
   * used is said and tried again when it changes.
   *
   * @return whether it is another certificate
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
      LOG.info("executors are served with a new certificate");
      return true;
    } catch (IOException | ExecutionException | TimeoutException e) {
      LOG.warnf("the new certificate of the executors' port can't be used: %s", e.getMessage());
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

  /** Also with parameters ("/internal;x/v1"), which RESTEasy would leave out. */
  private static boolean isLink(String path) {
    return path.startsWith(LINK) || path.startsWith("/internal;");
  }

  /** By the path as it was sent, too: "/internal/../v1/agents" is none of the link's. */
  private void serve(HttpServerRequest request) {
    if (request.path() != null && request.path().startsWith(LINK)) {
      // As Quarkus hands over its own: its access log looks for the wrapper.
      router.handle(new QuarkusRequestWrapper(request, (cookie, wrapped) -> {}));
    } else {
      request.response().setStatusCode(NOT_FOUND).end();
    }
  }
}
