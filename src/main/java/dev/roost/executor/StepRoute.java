package dev.roost.executor;

import dev.roost.api.Body;
import dev.roost.execution.StepOperations;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Optional;

/** The durable steps of scripts. */
@ApplicationScoped
class StepRoute {
  private static final String PATH = "/internal/v1/executions/:execution/steps";

  private final ScriptCalls calls;
  private final StepOperations steps;

  StepRoute(ScriptCalls calls, StepOperations steps) {
    this.calls = calls;
    this.steps = steps;
  }

  void routes(@Observes Router router) {
    calls.route(router, PATH, "execution", this::operate);
  }

  private Optional<Object> operate(
      RoutingContext context, String executorId, String executionId, Body body) {
    body.string("execution_id"); // Also in the path.
    return Optional.of(steps.run(executorId, executionId, body));
  }
}
