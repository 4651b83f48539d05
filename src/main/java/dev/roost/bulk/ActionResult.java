package dev.roost.bulk;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import dev.roost.api.Problem;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * What an action on many has done to one of them.
 *
 * @param changed whether the action has changed it or, with dry_run, would change it
 * @param jobs jobs that a deletion cancels; null for other actions
 * @param scheduleIds schedules that were paused or resumed; null for other actions
 * @param executorJobId the new job of a run; null otherwise
 * @param error null: no error
 */
@Schema(name = "ActionResult")
record ActionResult(
    @Schema(description = "The agent or the ExecutorJob") String id,
    @JsonInclude(Include.NON_NULL) @Schema(description = "Only if the agent exists: its name")
        String name,
    @Schema(
            description =
                "Whether the action has changed it or, with dry_run, would change it. A tagged agent "
                    + "that had the tags before is not changed")
        boolean changed,
    @JsonInclude(Include.NON_NULL)
        @Schema(
            description =
                "Only for delete: queued, running and suspended jobs, which are cancelled")
        Integer jobs,
    @JsonInclude(Include.NON_NULL)
        @Schema(description = "Only for pause_schedules and resume_schedules: those that change")
        List<String> scheduleIds,
    @JsonInclude(Include.NON_NULL)
        @Schema(description = "Only for run and run_again: the new ExecutorJob")
        String executorJobId,
    @JsonInclude(Include.NON_NULL) @Schema(description = "Only if the action failed")
        Failure error) {

  /** Why the action failed. */
  @Schema(name = "ActionError")
  record Failure(
      @Schema(description = "One of the error codes", examples = "not_found") String code,
      @Schema(description = "The error as a message") String detail) {}

  static ActionResult changed(String id, String name, boolean changed) {
    return new ActionResult(id, name, changed, null, null, null, null);
  }

  static ActionResult started(String id, String name, String executorJobId) {
    return new ActionResult(id, name, true, null, null, executorJobId, null);
  }

  static ActionResult schedules(String id, String name, List<String> scheduleIds) {
    return new ActionResult(id, name, !scheduleIds.isEmpty(), null, scheduleIds, null, null);
  }

  static ActionResult deleted(String id, String name, int jobs) {
    return new ActionResult(id, name, true, jobs, null, null, null);
  }

  static ActionResult failed(String id, String name, Problem problem) {
    Failure error = new Failure(problem.code().code(), problem.getMessage());
    return new ActionResult(id, name, false, null, null, null, error);
  }

  /**
   * The results of one request.
   *
   * @param changed how many were changed or, with dry_run, would be
   */
  @Schema(name = "ActionResults")
  record All(
      @Schema(description = "In the order of the request") List<ActionResult> results,
      @Schema(description = "How many were changed or, with dry_run, would be") int changed,
      @Schema(description = "How many have an error") int failed) {
    static All of(List<ActionResult> results) {
      return new All(
          results,
          (int) results.stream().filter(ActionResult::changed).count(),
          (int) results.stream().filter(result -> result.error() != null).count());
    }
  }
}
