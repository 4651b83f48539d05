package dev.roost.executor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.api.ProblemMappers;
import dev.roost.api.Rejections;
import dev.roost.cluster.Draining;
import dev.roost.intake.Intake;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Calls of scripts, which their sidecars pass on. Vert.x routes instead of JAX-RS resources: a
 * script waits for each call, and JAX-RS alone would take longer than a get takes in the database.
 */
@ApplicationScoped
class ScriptCalls {
  /**
   * After the routes that log and count requests and separate the ports, and before all others,
   * which don't concern the request and only pass it on.
   */
  private static final int EARLY = Integer.MIN_VALUE + 1;

  private static final int OK = 200;
  private static final String JSON = "application/json";

  private final ExecutorTokens tokens;
  private final ObjectMapper mapper;
  private final Draining draining;
  private final Intake intake;
  private final Rejections rejections;

  ScriptCalls(
      ExecutorTokens tokens,
      ObjectMapper mapper,
      Draining draining,
      Intake intake,
      Rejections rejections) {
    this.tokens = tokens;
    this.mapper = mapper;
    this.draining = draining;
    this.intake = intake;
    this.rejections = rejections;
  }

  /** Handles a call on a thread that may wait for the database. */
  @FunctionalInterface
  interface Handler {
    /**
     * @param parameter of the path
     * @return the response; empty when it is sent later, by {@link #send} or {@link #sendProblem}
     */
    Optional<Object> handle(RoutingContext context, String executorId, String parameter, Body body);
  }

  /**
   * @param parameter the name of the path's parameter
   */
  void route(Router router, String path, String parameter, Handler handler) {
    router.post(path).order(EARLY).handler(context -> receive(context, parameter, handler));
  }

  private void receive(RoutingContext context, String parameter, Handler handler) {
    try {
      String executorId = tokens.verify(context.request().getHeader("Authorization")).executorId();
      intake
          .receive(context, BodySize.STORE_OPERATION)
          .whenComplete(
              (body, e) -> {
                if (e == null) {
                  String value = context.pathParam(parameter);
                  answer(
                      context,
                      () -> handler.handle(context, executorId, value, Body.parse(body.bytes())));
                } else {
                  sendProblem(context, e);
                }
              });
    } catch (Problem refused) {
      sendProblem(context, refused);
    }
  }

  private void answer(RoutingContext context, Supplier<Optional<Object>> call) {
    context
        .vertx()
        .executeBlocking(() -> call.get().map(this::json), false)
        .onSuccess(answer -> answer.ifPresent(bytes -> end(context, OK, JSON, bytes)))
        .onFailure(e -> sendProblem(context, e));
  }

  void send(RoutingContext context, Object answer) {
    end(context, OK, JSON, json(answer));
  }

  private byte[] json(Object answer) {
    try {
      return mapper.writeValueAsBytes(answer);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  void sendProblem(RoutingContext context, Throwable e) {
    String requestId = Ids.next("req");
    Problem problem = ofScript(ProblemMappers.problem(e, requestId));
    rejections.count(problem);
    byte[] document = json(ProblemMappers.Document.of(problem, requestId));
    problem.headers().forEach(context.response()::putHeader);
    end(context, problem.code().status(), ProblemMappers.MEDIA_TYPE, document);
  }

  /** Changes an error that a sidecar would treat as transient and retry until the timeout. */
  private static Problem ofScript(Problem problem) {
    return problem.code() == ErrorCode.STORAGE_FULL
        ? Problem.of(ErrorCode.STORE_FULL, problem.getMessage())
        : problem;
  }

  private void end(RoutingContext context, int status, String type, byte[] body) {
    HttpServerResponse response = context.response();
    if (response.closed()) {
      return; // The sidecar has disconnected; its retry gets the recorded answer.
    }
    if (draining.isOn()) {
      response.putHeader("Connection", "close");
    }
    response.setStatusCode(status).putHeader("Content-Type", type).end(Buffer.buffer(body));
  }
}
