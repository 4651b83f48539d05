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
  BAD_SIGNATURE(false, "main must take no parameter, request, or request and store."),
  SYNTAX_ERROR(false, "The script is not valid Python of this version."),
  IMPORT_ERROR(
      false,
      "The script could not be imported: a module is missing. Add its package to the requirements."),
  NOT_JSON(true, "The return value can't be written as JSON; the message says which part of it."),
  RETURN_VALUE_TOO_LARGE(
      true,
      "The return value is larger than the limit. Put large results into a DataStore or a file service."),
  EXITED(true, "The script's process ended by itself: sys.exit, os._exit or a signal."),
  DEADLINE_EXCEEDED(true, "The script ran longer than the agent's timeout."),
  OUT_OF_MEMORY(true, "The script used more memory than the agent's memory setting allows."),
  OUT_OF_DISK(true, "The script filled its working directory."),
  TOO_MANY_PROCESSES(
      true, "The script started more processes than an execution may have at a time."),
  CANCELLED(false, "Somebody cancelled it, or the agent was deleted."),
  EXECUTOR_LOST(true, "The process in which the script ran ended unexpectedly."),
  BUILD_FAILED(
      false, "The agent's requirements could not be installed; its latest BuilderJob says why."),
  IMAGE_PULL_FAILED(false, "The agent's image could not be pulled."),
  UNSCHEDULABLE(false, "No machine has room for the executor."),
  RUNTIME_UNAVAILABLE(false, "No executor could be started; the message says why.");

  private final boolean mayPass;
  private final String explanation;

  ExecutionReason(boolean mayPass, String explanation) {
    this.mayPass = mayPass;
    this.explanation = explanation;
  }

  /** Whether another attempt may succeed. */
  boolean mayPass() {
    return mayPass;
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
  static String parameter(String given) {
    List<String> codes = Arrays.stream(values()).map(ExecutionReason::code).toList();
    List<String> reasons = QueryParameters.choices("reason", given, codes);
    if (reasons.size() > 1) {
      throw Problem.invalid("?reason", "not_a_choice", "Give one reason.");
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
