package dev.roost.executor;

import dev.roost.api.Body;
import dev.roost.execution.FileOperations;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Optional;

/** The files that scripts read and make. */
@ApplicationScoped
class FileRoute {
  private static final String PATH = "/internal/v1/executions/:execution/files";

  private final ScriptCalls calls;
  private final FileOperations operations;

  FileRoute(ScriptCalls calls, FileOperations operations) {
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
