package dev.roost.url;

import dev.roost.api.Authentication;
import dev.roost.api.BodySize;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.ReceivedBody;
import dev.roost.api.Role;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.execution.ExecuteResource;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.JobSubmission;
import dev.roost.intake.Intake;
import dev.roost.trace.Traces;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.smallrye.mutiny.subscription.Cancellable;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Serves the URLs of agents. A Vert.x route instead of a JAX-RS resource: it takes any method and
 * any body, and the answer is the agent's.
 */
@ApplicationScoped
class RunRoute {
  private static final Logger LOG = Logger.getLogger(RunRoute.class);

  /**
   * After the routes that log and count requests and separate the ports, and before those that
   * would read the body.
   */
  private static final int EARLY = Integer.MIN_VALUE + 1;

  /** The same for all requests without what is required, so that nobody learns names of agents. */
  private static final String UNKNOWN =
      "There is no such URL, or the request lacks what the URL requires: an API key "
          + "(\"Authorization: Bearer roost_…\"), or a valid signature that is at most 5 minutes old. "
          + "Roost's log says why a signature was refused.";

  private final AgentUrls urls;
  private final Authentication authentication;
  private final RequestRates rates;
  private final Intake intake;
  private final JobSubmission submission;
  private final Traces traces;
  private final RoostConfig config;
  private final Clock clock;
  private final RunResponses responses;

  RunRoute(
      AgentUrls urls,
      Authentication authentication,
      RequestRates rates,
      Intake intake,
      JobSubmission submission,
      Traces traces,
      RoostConfig config,
      Clock clock,
      RunResponses responses) {
    this.urls = urls;
    this.authentication = authentication;
    this.rates = rates;
    this.intake = intake;
    this.submission = submission;
    this.traces = traces;
    this.config = config;
    this.clock = clock;
    this.responses = responses;
  }

  void routes(@Observes Router router) {
    router
        .route(AgentUrl.PATH + "*")
        .order(EARLY)
        .handler(this::begin)
        .failureHandler(context -> responses.refuse(context, Exchange.NONE, context.failure()));
  }

  /**
   * What is known of a request so far.
   *
   * @param url null: none was found
   * @param path what follows the agent's name
   */
  record Exchange(AgentUrl url, String path, Map<String, String> cors) {
    static final Exchange NONE = new Exchange(null, "/", Map.of());

    /** Whether the response must not have anything of what runs inside. */
    boolean isForStrangers() {
      return url == null || url.isForStrangers();
    }
  }

  private void begin(RoutingContext context) {
    context.request().pause();
    context
        .vertx()
        .executeBlocking(() -> find(context), false)
        .onFailure(e -> responses.refuse(context, Exchange.NONE, e))
        .onSuccess(exchange -> admit(context, exchange));
  }

  private Exchange find(RoutingContext context) {
    String path = context.normalizedPath().substring(AgentUrl.PATH.length() - 1);
    int end = path.indexOf('/', 1);
    String name = path.isEmpty() ? "" : path.substring(1, end < 0 ? path.length() : end);
    String rest = end < 0 ? "/" : path.substring(end);
    Optional<AgentUrl> url =
        decoded(name)
            .flatMap(urls::find)
            .filter(found -> rest.equals("/") || found.format() == UrlFormat.HTTP);
    return url.map(
            found ->
                new Exchange(
                    found, rest, Cors.headers(found, context.request().getHeader("Origin"))))
        .orElse(Exchange.NONE);
  }

  /** A part of a path; empty if it isn't percent-encoded. */
  private static Optional<String> decoded(String part) {
    try {
      return Optional.of(URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Decides everything that doesn't depend on the body before the body is read. */
  private void admit(RoutingContext context, Exchange exchange) {
    HttpServerRequest request = context.request();
    AgentUrl url = exchange.url();
    if (url != null && isPreflight(request)) {
      Map<String, String> headers =
          Cors.preflight(
              url,
              request.getHeader("Origin"),
              request.getHeader("Access-Control-Request-Headers"));
      if (!headers.isEmpty()) {
        responses.preflight(context, headers);
        return;
      }
    }
    onWorker(
        context,
        exchange,
        () -> {
          authenticate(context, url);
          if (url.authentication() != UrlAuthentication.SIGNATURE) {
            requireMethod(request, url);
            rates.count(url.agentId(), url.requestsPerMinute());
          }
          return null;
        },
        admitted -> receive(context, exchange));
  }

  private static boolean isPreflight(HttpServerRequest request) {
    return request.method().name().equals("OPTIONS")
        && request.getHeader("Origin") != null
        && request.getHeader("Access-Control-Request-Method") != null;
  }

  /**
   * @param url null: there is none
   * @throws Problem unauthenticated, forbidden, not_found, rate_limited
   */
  private void authenticate(RoutingContext context, AgentUrl url) {
    if (url != null && url.authentication() != UrlAuthentication.KEY) {
      return; // A signature is checked when the body is there.
    }
    try {
      authentication.requireKey(context, Role.EXECUTE);
    } catch (Problem e) {
      throw e.code() == ErrorCode.UNAUTHENTICATED ? unauthenticated() : e;
    }
    if (url == null) {
      throw Problem.of(
          ErrorCode.NOT_FOUND,
          "No agent has this URL. An agent gets one with PUT /v1/agents/{id}/url.");
    }
  }

  private static Problem unauthenticated() {
    return Problem.of(ErrorCode.UNAUTHENTICATED, UNKNOWN)
        .withHeader("WWW-Authenticate", "Bearer realm=\"Roost\"");
  }

  private static void requireMethod(HttpServerRequest request, AgentUrl url) {
    String method = request.method().name();
    if (!url.takes(method)) {
      throw Problem.of(ErrorCode.METHOD_NOT_ALLOWED, "This URL doesn't take " + method + ".")
          .withHeader("Allow", String.join(", ", Cors.methods(url)));
    }
  }

  private void receive(RoutingContext context, Exchange exchange) {
    intake
        .receive(context, BodySize.PAYLOAD)
        .whenComplete(
            (body, e) -> {
              if (e != null) {
                responses.refuse(context, exchange, e);
              } else {
                context.request().resume();
                onWorker(
                    context,
                    exchange,
                    () -> submit(context, exchange, body.bytes()),
                    job -> await(context, exchange, job));
              }
            });
  }

  /**
   * @throws Problem unauthenticated, method_not_allowed, rate_limited, and those of a submission
   */
  private Uni<ExecutorJob.View> submit(RoutingContext context, Exchange exchange, byte[] body) {
    AgentUrl url = exchange.url();
    HttpServerRequest http = context.request();
    RunRequest request =
        RunRequest.of(
            http.method().name(), exchange.path(), http.query(), http.headers().entries(), body);
    if (url.authentication() == UrlAuthentication.SIGNATURE) {
      verify(request, url);
      requireMethod(http, url);
      rates.count(url.agentId(), url.requestsPerMinute());
    }
    JsonText payload = HttpPayload.of(request, url);
    if (payload != null) {
      ExecuteResource.checkSize("The payload", Text.sizeBytes(payload.text()), config);
    }
    Duration wait =
        url.mode() == UrlMode.WAIT ? Duration.ofSeconds(url.waitSeconds()) : Duration.ZERO;
    Uni<ExecutorJob.View> job =
        submission.whenEnded(
            url.agentId(),
            payload,
            DeliveryKey.of(request),
            DeliveryKey.content(request),
            traces.parent(request.header("traceparent")),
            wait);
    ReceivedBody.release(context);
    return job;
  }

  private void verify(RunRequest request, AgentUrl url) {
    Instant now = clock.instant();
    String refusal = null;
    for (String secret : url.secrets(now)) {
      Optional<String> found =
          url.signatureScheme().refusal(secret, request::header, request.body(), now);
      if (found.isEmpty()) {
        return;
      }
      refusal = refusal == null ? found.get() : refusal;
    }
    LOG.infof("a request to the URL of %s was refused: %s", url.agentId(), refusal);
    throw unauthenticated();
  }

  /**
   * Waits without a thread, except for the looks at the job, which read the database; a client that
   * disconnects ends the wait, not the job.
   */
  private void await(RoutingContext context, Exchange exchange, Uni<ExecutorJob.View> job) {
    Cancellable wait =
        job.runSubscriptionOn(Infrastructure.getDefaultWorkerPool())
            .subscribe()
            .with(
                view -> responses.answer(context, exchange, view),
                e -> responses.refuse(context, exchange, e));
    context.addEndHandler(end -> wait.cancel());
  }

  private <T> void onWorker(
      RoutingContext context, Exchange exchange, Supplier<T> work, Consumer<T> next) {
    context
        .vertx()
        .executeBlocking(work::get, false)
        .onFailure(e -> responses.refuse(context, exchange, e))
        .onSuccess(next::accept);
  }
}
