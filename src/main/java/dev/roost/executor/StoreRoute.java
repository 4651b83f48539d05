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
import dev.roost.datastore.Access;
import dev.roost.datastore.Operation;
import dev.roost.datastore.Operations;
import dev.roost.intake.Intake;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Optional;

/**
 * The operations of scripts on their stores. A Vert.x route instead of a JAX-RS resource: a script
 * waits for each operation, and JAX-RS alone would take longer than a get takes in the database.
 */
@ApplicationScoped
class StoreRoute {
  private static final String PATH = "/internal/v1/datastores/:store/operations";

  /**
   * After the routes that log and count requests and separate the ports, and before all others,
   * which don't concern the request and only pass it on.
   */
  private static final int EARLY = Integer.MIN_VALUE + 1;

  private static final int OK = 200;
  private static final String JSON = "application/json";

  private final ExecutorTokens tokens;
  private final Operations operations;
  private final ObjectMapper mapper;
  private final Draining draining;
  private final Intake intake;
  private final Rejections rejections;

  StoreRoute(
      ExecutorTokens tokens,
      Operations operations,
      ObjectMapper mapper,
      Draining draining,
      Intake intake,
      Rejections rejections) {
    this.intake = intake;
    this.rejections = rejections;
    this.tokens = tokens;
    this.operations = operations;
    this.mapper = mapper;
    this.draining = draining;
  }

  void routes(@Observes Router router) {
    router.post(PATH).order(EARLY).handler(this::receive);
  }

  private void receive(RoutingContext context) {
    try {
      String executorId = tokens.verify(context.request().getHeader("Authorization")).executorId();
      intake
          .receive(context, BodySize.STORE_OPERATION)
          .whenComplete(
              (body, e) -> {
                if (e == null) {
                  answer(context, executorId, body.bytes());
                } else {
                  sendProblem(context, e);
                }
              });
    } catch (Problem refused) {
      sendProblem(context, refused);
    }
  }

  private void answer(RoutingContext context, String executorId, byte[] body) {
    String store = context.pathParam("store");
    context
        .vertx()
        .executeBlocking(() -> operate(context, store, executorId, body), false)
        .onSuccess(answer -> answer.ifPresent(bytes -> end(context, OK, JSON, bytes)))
        .onFailure(e -> sendProblem(context, e));
  }

  /** Empty when the answer comes later, since the operation waits for a lock. */
  private Optional<byte[]> operate(
      RoutingContext context, String storeId, String executorId, byte[] bytes) {
    Body body = Body.parse(bytes);
    String executionId = body.string("execution_id").orElse("");
    Optional<String> channel = body.string("channel");
    Optional<Long> seq = body.wholeNumber("seq");
    Operation operation = Operation.of(body);
    // Sidecars from before idempotency records don't number their writes.
    Access.Idempotency idempotency =
        operation.isWrite()
            ? new Access.Idempotency(
                executionId, channel.orElseGet(() -> Ids.next("write")), seq.orElse(1L), null)
            : null;
    Access access = StoreAccess.of(storeId, executorId, executionId, idempotency);
    if (operation instanceof Operation.Lock lock) {
      operations
          .lock(access, lock)
          .subscribe()
          .with(answer -> end(context, OK, JSON, json(answer)), e -> sendProblem(context, e));
      return Optional.empty();
    }
    return Optional.of(json(operations.run(access, operation)));
  }

  private byte[] json(Object answer) {
    try {
      return mapper.writeValueAsBytes(answer);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private void sendProblem(RoutingContext context, Throwable e) {
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
