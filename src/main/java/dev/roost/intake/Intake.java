package dev.roost.intake;

import dev.roost.api.BodySize;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.ReceivedBody;
import dev.roost.config.RoostConfig;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.StartupEvent;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Receives the bodies of requests, after authentication and before a worker thread is assigned,
 * within limits for the size, the time, and the total memory of all bodies.
 */
@ApplicationScoped
public class Intake {
  /** How many copies of a body's bytes are in memory during the largest requests. */
  static final int WEIGHT = 8;

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  /**
   * The heap divided by this number is the memory for all bodies; small bodies have a separate
   * part.
   */
  private static final int HEAP_SHARE = 2;

  private static final int SMALL_SHARE = 8;

  private final RoostConfig.Limits limits;
  private final BodyBudget small;
  private final BodyBudget large;

  Intake(RoostConfig config, MeterRegistry registry) {
    limits = config.limits();
    long total =
        limits.bodyMemoryBytes() > 0
            ? limits.bodyMemoryBytes()
            : Runtime.getRuntime().maxMemory() / HEAP_SHARE;
    small = new BodyBudget(total / SMALL_SHARE);
    large = new BodyBudget(total - total / SMALL_SHARE);
    measure("small", small, registry);
    measure("large", large, registry);
  }

  /** Creates the bean at startup, so that its series exist from the start, with zeros. */
  void start(@Observes StartupEvent event) {}

  private static void measure(String size, BodyBudget budget, MeterRegistry registry) {
    Gauge.builder("roost.intake.reserved", budget, BodyBudget::used)
        .description("Memory reserved for request bodies")
        .baseUnit("bytes")
        .tag("size", size)
        .register(registry);
    Gauge.builder("roost.intake.limit", budget, BodyBudget::total)
        .description(
            "Maximum memory reserved for request bodies; beyond it, requests wait and are then "
                + "rejected")
        .baseUnit("bytes")
        .tag("size", size)
        .register(registry);
    Gauge.builder("roost.intake.waiting", budget, BodyBudget::waiting)
        .description("Requests that wait for memory for their bodies")
        .baseUnit("requests")
        .tag("size", size)
        .register(registry);
  }

  /**
   * Receives the request's body and attaches it to the context, see {@link ReceivedBody}.
   *
   * @return fails with a Problem: too_large, request_timeout, overloaded; or when the client has
   *     disconnected
   */
  public CompletionStage<ReceivedBody> receive(RoutingContext context, BodySize size) {
    HttpServerRequest request = context.request();
    if (!hasBody(request)) {
      return CompletableFuture.completedFuture(new ReceivedBody(new byte[0], () -> {}));
    }
    long most = size.bytes(limits);
    long length = declaredLength(request);
    if (length > most) {
      return CompletableFuture.failedFuture(tooLarge(most));
    }
    long expected = length < 0 ? most : length;
    BodyBudget budget = expected <= BodySize.SMALL_BYTES ? small : large;
    return within(
            context.vertx(), budget.reserve(expected * WEIGHT), LONGEST_WAIT, Intake::overloaded)
        .thenCompose(release -> receive(context, (int) length, most, release));
  }

  private CompletionStage<ReceivedBody> receive(
      RoutingContext context, int length, long most, Runnable release) {
    context.addEndHandler(end -> release.run());
    if (context.response().ended() || context.response().closed()) {
      release.run();
    }
    BodyReceiver receiver = new BodyReceiver(length, most);
    receiver.start(context.request());
    return within(context.vertx(), receiver.received(), limits.bodyTimeout(), this::timedOut)
        .thenApply(
            bytes -> {
              ReceivedBody body = new ReceivedBody(bytes, release);
              body.attachTo(context);
              return body;
            });
  }

  static Problem tooLarge(long most) {
    return Problem.of(
        ErrorCode.TOO_LARGE,
        "The body of this request must have at most %,d bytes.".formatted(most));
  }

  static boolean hasBody(HttpServerRequest request) {
    return declaredLength(request) > 0 || request.headers().contains(HttpHeaders.TRANSFER_ENCODING);
  }

  /** -1: not declared. The HTTP parser has already rejected invalid numbers. */
  private static long declaredLength(HttpServerRequest request) {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    try {
      return length == null ? -1 : Long.parseLong(length.strip());
    } catch (NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  private static Problem overloaded() {
    return Problem.retryLater(
        ErrorCode.OVERLOADED,
        "The memory for request bodies is exhausted (setting roost.limits.body-memory-bytes).",
        5);
  }

  private Problem timedOut() {
    return Problem.of(
        ErrorCode.REQUEST_TIMEOUT,
        "The body did not arrive within %d seconds (setting roost.limits.body-timeout)."
            .formatted(limits.bodyTimeout().toSeconds()));
  }

  /** Uses the event loop's timer: the one of CompletableFuture wakes a thread for each request. */
  private static <T> CompletableFuture<T> within(
      Vertx vertx, CompletableFuture<T> stage, Duration time, Supplier<Problem> otherwise) {
    if (stage.isDone()) {
      return stage;
    }
    long timer =
        vertx.setTimer(
            Math.max(1, time.toMillis()), id -> stage.completeExceptionally(otherwise.get()));
    return stage.whenComplete((value, e) -> vertx.cancelTimer(timer));
  }
}
