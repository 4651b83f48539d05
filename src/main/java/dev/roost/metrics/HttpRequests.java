package dev.roost.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Set;

/**
 * Counts requests on every port, by method and status. Durations aren't measured: long polls and
 * streams take as long as the client requested.
 */
@ApplicationScoped
class HttpRequests {
  private static final int BEFORE_ALL = Integer.MIN_VALUE;
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");

  private final MeterRegistry registry;

  HttpRequests(MeterRegistry registry) {
    this.registry = registry;
  }

  void routes(@Observes Router router) {
    router
        .route()
        .order(BEFORE_ALL)
        .handler(
            context -> {
              context.addEndHandler(end -> count(context));
              context.next();
            });
  }

  private void count(RoutingContext context) {
    String method = context.request().method().name();
    Counter.builder("roost.http.requests")
        .description("Requests that have ended, on every port")
        .tag("method", METHODS.contains(method) ? method : "other")
        .tag("status", Integer.toString(context.response().getStatusCode()))
        .register(registry)
        .increment();
  }
}
