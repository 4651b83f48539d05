package dev.roost.swarmnode;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.api.ProblemMappers;
import dev.roost.api.Rejections;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.ws.rs.core.MediaType;

/** Errors outside of JAX-RS, in the same form. */
@ApplicationScoped
class RouteErrors {
  /** After the routes that log and count requests, and before those that refuse large bodies. */
  static final int EARLY = Integer.MIN_VALUE + 1;

  /** More than any body of the API; uploads have a limit of their own. */
  private static final long MOST_BYTES = 79L << 20;

  private final ObjectMapper mapper;
  private final Rejections rejections;

  RouteErrors(ObjectMapper mapper, Rejections rejections) {
    this.mapper = mapper;
    this.rejections = rejections;
  }

  void routes(@Observes Router router) {
    router
        .route(CompatPaths.API + "*")
        .order(EARLY)
        .handler(
            context -> {
              if (declaredLength(context) > MOST_BYTES) {
                refuse(context, Problem.of(ErrorCode.TOO_LARGE, "The body is too large."));
              } else {
                context.next();
              }
            })
        .failureHandler(context -> send(context, context.failure()));
  }

  /** -1: not declared. */
  static long declaredLength(RoutingContext context) {
    try {
      String length = context.request().getHeader("Content-Length");
      return length == null ? -1 : Long.parseLong(length.strip());
    } catch (NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  /** Also closes the connection, whose request isn't read to its end. */
  void refuse(RoutingContext context, Throwable e) {
    if (!context.response().headWritten()) {
      context.response().putHeader("Connection", "close");
    }
    send(context, e);
  }

  /** Answers with the error, unless the client has gone. */
  void send(RoutingContext context, Throwable e) {
    HttpServerResponse response = context.response();
    String requestId = Ids.next("req");
    Problem problem = ProblemMappers.problem(e, requestId);
    rejections.count(problem);
    if (response.closed() || response.headWritten()) {
      return;
    }
    problem.headers().forEach(response::putHeader);
    response
        .setStatusCode(CompatErrors.status(problem.code()))
        .putHeader("Content-Type", MediaType.APPLICATION_JSON)
        .putHeader("X-Request-Id", requestId)
        .end(Buffer.buffer(json(CompatErrors.Body.of(problem, requestId))));
  }

  private byte[] json(Object body) {
    try {
      return mapper.writeValueAsBytes(body);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
