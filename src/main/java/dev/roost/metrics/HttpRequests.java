package dev.roost.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

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

  /** So that a request doesn't cost a search in the registry. */
  private final Map<Series, Counter> counters = new ConcurrentHashMap<>();

  private record Series(String method, int status) {}

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
    Series series =
        new Series(METHODS.contains(method) ? method : "other", context.response().getStatusCode());
    counters.computeIfAbsent(series, this::counter).increment();
  }

  private Counter counter(Series series) {
    return Counter.builder("roost.http.requests")
        .description("Completed HTTP requests, on all ports and paths")
        .tag("method", series.method())
        .tag("status", Integer.toString(series.status()))
        .register(registry);
  }
}
