package dev.roost.execution;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.api.Problem;
import dev.roost.api.QueryParameters;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Why an Execution or an ExecutorJob did not succeed. */
public enum ExecutionReason {
  EXCEPTION(true, "The script raised an exception; the traceback is at the end of the log."),
  NO_MAIN(false, "The script defines no function main."),
  BAD_SIGNATURE(false, "main must have no parameters, or request, or request and store."),
  SYNTAX_ERROR(false, "The script is not valid Python of this version."),
  IMPORT_ERROR(
      false,
      "The script could not be imported: a module is missing. Add its package to the requirements."),
  NOT_JSON(true, "The return value cannot be serialized as JSON. The message names the part."),
  RETURN_VALUE_TOO_LARGE(
      true, "The return value exceeds the size limit. Store large results with request.artifact."),
  PAYLOAD_LOST(
      false,
      "The payload was stored as a file, and the storage of files no longer has it. Submit the job "
          + "again with its payload."),
  BUNDLE_LOST(
      false,
      "The storage of files no longer has the files of the agent's project, or has others. Deploy "
          + "the project again."),
  REPLAY_DIVERGED(
      false,
      "A retry asked for other steps than the job had stored. A script must ask for the same "
          + "steps in the same order in each attempt."),
  EXITED(true, "The script's process exited: sys.exit, os._exit or a signal."),
  DEADLINE_EXCEEDED(true, "The script exceeded the agent's timeout."),
  OUT_OF_MEMORY(true, "The script exceeded the agent's memory limit."),
  OUT_OF_DISK(true, "The script filled its working directory."),
  TOO_MANY_PROCESSES(true, "The script exceeded the process limit of an execution."),
  CANCELLED(false, "The execution was cancelled, or the agent was deleted."),
  EXECUTOR_LOST(true, "The executor that ran the script ended unexpectedly."),
  BUILD_FAILED(
      false, "The agent's requirements could not be installed. See its latest BuilderJob."),
  IMAGE_PULL_FAILED(false, "The agent's image could not be pulled."),
  UNSCHEDULABLE(false, "No node has enough capacity for the executor."),
  RUNTIME_UNAVAILABLE(false, "No executor could be started. The message has the cause.");

  private final boolean isTransient;
  private final String explanation;

  ExecutionReason(boolean isTransient, String explanation) {
    this.isTransient = isTransient;
    this.explanation = explanation;
  }

  /** Whether another attempt may succeed. */
  boolean isTransient() {
    return isTransient;
  }

  /** The meaning of the reason, and what to do, for the documentation. */
  public String explanation() {
    return explanation;
  }

  @JsonValue
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The reason to filter a list by.
   *
   * @param given the query parameter, or null
   * @throws Problem validation_failed
   */
  public static String parameter(String given) {
    List<String> codes = Arrays.stream(values()).map(ExecutionReason::code).toList();
    List<String> reasons = QueryParameters.choices("reason", given, codes);
    if (reasons.size() > 1) {
      throw Problem.invalid("?reason", "not_a_choice", "Send one reason.");
    }
    return reasons.isEmpty() ? null : reasons.get(0);
  }

  public static Optional<ExecutionReason> of(String code) {
    for (ExecutionReason reason : values()) {
      if (reason.code().equals(code)) {
        return Optional.of(reason);
      }
    }
    return Optional.empty();
  }
}
