package dev.roost.url;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.ProblemMappers;
import dev.roost.api.Rejections;
import dev.roost.api.RequestFilters;
import dev.roost.cluster.Draining;
import dev.roost.execution.ExecutorJob;
import dev.roost.state.ExecutorJobState;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;

/**
 * Sends the responses of agents' URLs. They come from the dashboard's origin, so each has headers
 * that keep a browser from running what an agent has written.
 */
@ApplicationScoped
class RunResponses {
  /** A page may have styles and images, in an origin of its own. */
  private static final String POLICY =
      "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; base-uri 'none'; form-action 'none'; "
          + "frame-ancestors 'none'; sandbox";

  private static final int NO_CONTENT = 204;
  private static final int NOT_MODIFIED = 304;
  private static final int ACCEPTED = 202;

  private final ObjectMapper mapper;
  private final Rejections rejections;
  private final Draining draining;

  RunResponses(ObjectMapper mapper, Rejections rejections, Draining draining) {
    this.mapper = mapper;
    this.rejections = rejections;
    this.draining = draining;
  }

  /** What is sent while the job hasn't ended. */
  private record Accepted(String id) {}

  void preflight(RoutingContext context, Map<String, String> headers) {
    context.request().resume();
    send(context, NO_CONTENT, headers, new byte[0]);
  }

  /** The result of the job, or its identifier if it hasn't ended. */
  void answer(RoutingContext context, RunRoute.Exchange exchange, ExecutorJob.View job) {
    try {
      if (exchange.url().mode() == UrlMode.ACCEPT || !job.state().isFinal()) {
        accept(context, exchange, job);
      } else {
        HttpReply reply = reply(exchange, job);
        Map<String, String> headers = new LinkedHashMap<>(reply.headers());
        headers.putAll(exchange.cors());
        if (reply.headers().containsKey("vary") && headers.containsKey("Vary")) {
          headers.put("Vary", headers.get("Vary") + ", " + headers.remove("vary"));
        }
        send(context, reply.status(), headers, reply.body());
      }
    } catch (RuntimeException e) {
      refuse(context, exchange, e);
    }
  }

  private void accept(RoutingContext context, RunRoute.Exchange exchange, ExecutorJob.View job) {
    Map<String, String> headers = new LinkedHashMap<>(exchange.cors());
    headers.put("Content-Type", "application/json");
    if (!exchange.isForStrangers()) {
      headers.put("Location", "/v1/executor-jobs/" + job.id());
    }
    send(context, ACCEPTED, headers, json(new Accepted(job.id())));
  }

  /**
   * @throws Problem agent_failed, unavailable
   */
  private static HttpReply reply(RunRoute.Exchange exchange, ExecutorJob.View job) {
    if (job.state() != ExecutorJobState.SUCCEEDED) {
      throw failed(exchange, job);
    }
    JsonText value = job.execution() == null ? null : job.execution().returnValue();
    if (value == null && job.execution() != null && job.execution().returnValueFileId() != null) {
      throw Problem.of(
          ErrorCode.AGENT_FAILED, "The storage of files has lost the result of " + job.id() + ".");
    }
    if (exchange.url().format() == UrlFormat.JSON) {
      return HttpReply.json(value);
    }
    try {
      return HttpReply.of(value);
    } catch (Problem e) {
      String detail = "The return value of the job " + job.id() + " is not a valid response.";
      throw Problem.of(ErrorCode.AGENT_FAILED, detail)
          .with(e.errors().isEmpty() ? detail + " " + e.getMessage() : detail, e.errors());
    }
  }

  private static Problem failed(RunRoute.Exchange exchange, ExecutorJob.View job) {
    String detail =
        "The job %s ended as %s (%s).".formatted(job.id(), job.state().code(), job.reason());
    return Problem.of(
        ErrorCode.AGENT_FAILED,
        exchange.isForStrangers() || job.message() == null ? detail : detail + " " + job.message());
  }

  /** Sends an error, unless the client has gone. */
  void refuse(RoutingContext context, RunRoute.Exchange exchange, Throwable failure) {
    Throwable e =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    String requestId = Ids.next("req");
    Problem problem = ProblemMappers.problem(e, requestId);
    rejections.count(problem);
    HttpServerResponse response = context.response();
    if (response.closed() || response.headWritten()) {
      return;
    }
    Problem shown = exchange.isForStrangers() ? forStrangers(problem) : problem;
    Map<String, String> headers = new LinkedHashMap<>(exchange.cors());
    headers.putAll(shown.headers());
    headers.put("Content-Type", ProblemMappers.MEDIA_TYPE);
    headers.put(RequestFilters.REQUEST_ID, requestId);
    if (hasUnreadBody(context.request())) {
      headers.put("Connection", "close");
    } else {
      context.request().resume();
    }
    send(
        context,
        shown.code().status(),
        headers,
        json(ProblemMappers.Document.of(pointed(shown), requestId)));
  }

  private static boolean hasUnreadBody(HttpServerRequest request) {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    boolean hasBody =
        length != null && !length.strip().equals("0")
            || request.headers().contains(HttpHeaders.TRANSFER_ENCODING);
    return hasBody && !request.isEnded();
  }

  /** The body is the payload itself, not a member of an object. */
  private static Problem pointed(Problem problem) {
    return problem.with(
        problem.getMessage(),
        problem.errors().stream()
            .map(
                error ->
                    error.pointer().equals("/payload") || error.pointer().startsWith("/payload/")
                        ? new Problem.FieldError(
                            error.pointer().substring("/payload".length()),
                            error.line(),
                            error.code(),
                            error.detail())
                        : error)
            .toList());
  }

  /** Without names of settings and states of the installation. */
  private static Problem forStrangers(Problem problem) {
    return switch (problem.code()) {
      case MALFORMED_JSON,
          UNAUTHENTICATED,
          NOT_FOUND,
          METHOD_NOT_ALLOWED,
          UNSUPPORTED_MEDIA_TYPE,
          VALIDATION_FAILED,
          IDEMPOTENCY_KEY_REUSED,
          RATE_LIMITED,
          AGENT_FAILED ->
          problem;
      case FORBIDDEN,
          NOT_ACCEPTABLE,
          REQUEST_TIMEOUT,
          CONFLICT,
          FENCED,
          LOCK_LOST,
          GONE,
          PRECONDITION_FAILED,
          TOO_LARGE,
          STORE_FULL,
          RANGE_NOT_SATISFIABLE,
          QUEUE_FULL,
          INTERNAL,
          OVERLOADED,
          UNAVAILABLE,
          STORAGE_FULL ->
          problem.with(problem.code().title() + ".", problem.errors());
    };
  }

  private byte[] json(Object body) {
    try {
      return mapper.writeValueAsBytes(body);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private void send(RoutingContext context, int status, Map<String, String> headers, byte[] body) {
    HttpServerResponse response = context.response();
    if (response.closed() || response.ended()) {
      return;
    }
    response.putHeader("Cache-Control", "no-store");
    response.putHeader("X-Request-Id", Ids.next("req"));
    headers.forEach(response::putHeader);
    response.putHeader("Content-Security-Policy", POLICY);
    response.putHeader("X-Content-Type-Options", "nosniff");
    response.putHeader("Referrer-Policy", "no-referrer");
    if (draining.isOn()) {
      response.putHeader("Connection", "close");
    }
    response.setStatusCode(status);
    boolean hasBody =
        status != NO_CONTENT
            && status != NOT_MODIFIED
            && !context.request().method().name().equals("HEAD");
    if (hasBody) {
      response.end(Buffer.buffer(body));
    } else {
      response.end();
    }
  }
}
