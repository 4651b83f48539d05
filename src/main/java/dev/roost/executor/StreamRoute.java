package dev.roost.executor;

import dev.roost.api.Body;
import dev.roost.execution.StreamOperations;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Optional;

/** The values that scripts emit, and their progress. */
@ApplicationScoped
class StreamRoute {
  private static final String PATH = "/internal/v1/executions/:execution/stream";

  private final ScriptCalls calls;
  private final StreamOperations operations;

  StreamRoute(ScriptCalls calls, StreamOperations operations) {
    this.calls = calls;
    this.operations = operations;
  }

  void routes(@Observes Router router) {
    calls.route(router, PATH, "execution", this::operate);
  }

  private Optional<Object> operate(
      RoutingContext context, String executorId, String executionId, Body body) {
    body.string("execution_id"); // Also in the path.
    return Optional.of(operations.run(executorId, executionId, body));
  }
}
