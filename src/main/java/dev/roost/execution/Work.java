package dev.roost.execution;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.roost.config.RoostConfig;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The work that an executor is given: the answer to its poll, as {@code docs/executor-link.md}
 * specifies.
 *
 * @param payload JSON text, or null
 * @param payloadFileId of the file that has all of the payload, until {@link #withPayload}; or null
 * @param stores main gets the first one
 * @param environment variables of this execution alone; the agent's take precedence
 * @param draft the script to run instead of the agent's; null for none
 * @param hasSteps whether earlier attempts have stored steps
 * @param files that the script may read
 * @param agent null when the executor has it already
 */
public record Work(
    String executionId,
    String executorJobId,
    String agentId,
    int attempt,
    Instant scheduledTime,
    double timeoutSeconds,
    int memoryMib,
    String payload,
    @JsonIgnore String payloadFileId,
    List<Store> stores,
    Limits limits,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> environment,
    @JsonInclude(JsonInclude.Include.NON_NULL) String draft,
    @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean hasSteps,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<File> files,
    @JsonInclude(JsonInclude.Include.NON_NULL) AgentCode agent) {

  /** The work with its whole payload. */
  Work withPayload(String text) {
    return new Work(
        executionId,
        executorJobId,
        agentId,
        attempt,
        scheduledTime,
        timeoutSeconds,
        memoryMib,
        text,
        null,
        stores,
        limits,
        environment,
        draft,
        hasSteps,
        files,
        agent);
  }

  public record Store(String name, String id) {}

  /**
   * @param name that the script knows it by
   * @param fileName the last part of its path
   */
  public record File(String name, String fileName, String contentType, long sizeBytes) {}

  /**
   * What an executor keeps for all its executions.
   *
   * @param bundle the files of the project; null: there are none
   * @param requestsPerProcess how many executions run in one process at the same time; null: one
   * @param preload null when the executor imports nothing in advance
   * @param reportsSchemas true: the executor reports the schemas of main's type hints; null: they
   *     are known
   */
  public record AgentCode(
      int revision,
      String script,
      @JsonInclude(JsonInclude.Include.NON_NULL) Bundle bundle,
      Map<String, String> envVars,
      @JsonInclude(JsonInclude.Include.NON_NULL) Integer requestsPerProcess,
      Preload preload,
      @JsonInclude(JsonInclude.Include.NON_NULL) Boolean reportsSchemas) {}

  /**
   * The files of the agent's project, which the executor fetches.
   *
   * @param script its path in the bundle
   */
  public record Bundle(String id, String script) {}

  /**
   * What the executor imports once, in the process from which it forks its executions.
   *
   * @param modules full names in the order of their import; null when no executor of the revision
   *     has reported them yet
   */
  public record Preload(List<String> modules) {}

  public record Limits(
      int returnValueBytes,
      int logLineBytes,
      int logBytes,
      int logTailBytes,
      int processes,
      int diskMib,
      int storeKeyBytes,
      int storeValueBytes,
      double storeWaitSeconds,
      double graceSeconds,
      double suspendAfterSeconds,
      int streamValueBytes) {
    static Limits of(RoostConfig config) {
      RoostConfig.Limits limits = config.limits();
      return new Limits(
          limits.returnValueBytes(),
          limits.logLineBytes(),
          limits.logBytes(),
          limits.logTailBytes(),
          limits.processes(),
          limits.workDirectoryMib(),
          limits.storeKeyBytes(),
          limits.storeValueBytes(),
          config.executors().storeWait().toMillis() / 1e3,
          config.executors().grace().toMillis() / 1e3,
          config.executors().suspendAfter().toMillis() / 1e3,
          limits.streamValueBytes());
    }
  }
}
