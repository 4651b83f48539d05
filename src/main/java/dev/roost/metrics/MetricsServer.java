package dev.roost.metrics;

import dev.roost.config.RoostConfig;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A separate port for metrics, if the settings have one: without a key, so that the network decides
 * who may read them. The port serves nothing else.
 */
@ApplicationScoped
class MetricsServer {
  private static final String PATH = "/metrics";
  private static final int NOT_FOUND = 404;
  private static final int ERROR = 500;
  private static final long LIMIT_SECONDS = 10;

  private final Vertx vertx;
  private final PrometheusMeterRegistry registry;
  private final String host;
  private final Optional<Integer> port;
  private HttpServer server;

  MetricsServer(Vertx vertx, PrometheusMeterRegistry registry, RoostConfig config) {
    this.vertx = vertx;
    this.registry = registry;
    this.host = config.host();
    this.port = config.metricsPort();
  }

  void start(@Observes StartupEvent event) throws Exception {
    if (port.isPresent()) {
      server =
          vertx
              .createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false))
              .requestHandler(this::serve)
              .listen(port.get(), host)
              .toCompletionStage()
              .toCompletableFuture()
              .get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }
  }

  void stop(@Observes ShutdownEvent event) {
    if (server != null) {
      server.close();
    }
  }

  private void serve(HttpServerRequest request) {
    if (!PATH.equals(request.path()) || !request.method().name().equals("GET")) {
      request.response().setStatusCode(NOT_FOUND).end();
      return;
    }
    // Not on the event loop, because some metrics require a database query.
    vertx
        .executeBlocking(() -> registry.scrape(), false)
        .onSuccess(
            text ->
                request.response().putHeader("Content-Type", TextFormat.CONTENT_TYPE_004).end(text))
        .onFailure(e -> request.response().setStatusCode(ERROR).end());
  }
}
