package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.Problem;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Optional;

/**
 * What executions do with the histories of their jobs; {@code docs/executor-link.md} specifies the
 * operations.
 */
@ApplicationScoped
public class StepOperations {
  private static final List<String> OPERATIONS =
      List.of("step", "steps", "reopen_steps", "timer", "call", "event", "approval", "outcomes");

  private final JobSteps steps;
  private final JobCalls calls;
  private final JobEvents events;
  private final Approvals approvals;

  StepOperations(JobSteps steps, JobCalls calls, JobEvents events, Approvals approvals) {
    this.steps = steps;
    this.calls = calls;
    this.events = events;
    this.approvals = approvals;
  }

  /**
   * Runs one operation.
   *
   * @return what the response has
   * @throws Problem validation_failed; fenced: the execution has ended or is another executor's;
   *     too_large: the job has too many steps, bytes or callers; storage_full; queue_full;
   *     not_found: there is no such agent; conflict: the number belongs to another step
   */
  public Object run(String executorId, String executionId, Body body) {
    body.require("op");
    Optional<String> operation = body.choice("op", OPERATIONS);
    if (operation.isEmpty()) {
      body.check();
    }
    return switch (operation.orElseThrow()) {
      case "step" -> steps.save(executorId, executionId, body);
      case "timer" -> steps.saveTimer(executorId, executionId, body);
      case "steps" -> steps.page(executorId, executionId, body);
      case "call" -> calls.call(executorId, executionId, body);
      case "event" -> events.await(executorId, executionId, body);
      case "approval" -> approvals.ask(executorId, executionId, body);
      case "outcomes" -> calls.outcomes(executorId, executionId, body);
      default -> steps.reopen(executorId, executionId, body);
    };
  }
}
