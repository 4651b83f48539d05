package dev.roost.agent;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Names;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * What a client may give of an agent, checked; everything is optional here, since a change gives
 * only what changes.
 *
 * @param parsedRequirements of {@link #requirements}, when given
 */
public record AgentRequest(
    Optional<String> name,
    Optional<String> script,
    Optional<String> requirements,
    Optional<String> envVars,
    Optional<String> pythonVersion,
    Optional<List<String>> storeIds,
    Optional<Double> timeout,
    Optional<Integer> memory,
    Optional<Double> cpu,
    Optional<Integer> maxConcurrency,
    Optional<Integer> maxAttempts,
    Optional<Double> retryDelay,
    Optional<List<String>> neverRetry,
    Optional<Double> keepWarm,
    Optional<String> isolation) {

  private static final int DAY_SECONDS = 86_400;

  /** An agent with everything else as it is by default. */
  public static AgentRequest of(String name, String script, String requirements) {
    return ofRun(Optional.of(name), script, requirements, Optional.empty(), Optional.empty());
  }

  /** A change to what ran in that revision. */
  static AgentRequest of(AgentRevision revision) {
    return ofRun(
        Optional.empty(),
        revision.script,
        revision.requirements,
        Optional.of(revision.envVars),
        Optional.of(revision.pythonVersion));
  }

  private static AgentRequest ofRun(
      Optional<String> name,
      String script,
      String requirements,
      Optional<String> envVars,
      Optional<String> pythonVersion) {
    return new AgentRequest(
        name,
        Optional.of(script),
        Optional.of(requirements),
        envVars,
        pythonVersion,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /**
   * Reads and checks the body of a request; the caller adds what it knows and calls {@link
   * Body#check}.
   *
   * @param pythonVersions those that the runtime offers
   * @param reasons why executions fail
   * @throws Problem too_large
   */
  static AgentRequest read(
      Body body, RoostConfig.Limits limits, List<String> pythonVersions, List<String> reasons) {
    AgentRequest request =
        new AgentRequest(
            body.string("name"),
            body.string("script"),
            body.string("requirements"),
            body.string("env_vars"),
            body.choice("python_version", pythonVersions),
            body.strings("store_ids"),
            body.number("timeout", 0.1, DAY_SECONDS),
            body.integer("memory", 16, 1 << 20),
            body.number("cpu", 0.01, 256),
            body.integer("max_concurrency", 1, 1_000),
            body.integer("max_attempts", 1, 10),
            body.number("retry_delay", 0, DAY_SECONDS),
            body.choices("never_retry", reasons),
            body.number("keep_warm", 0, DAY_SECONDS),
            body.choice("isolation", List.of("process", "pod")));
    request.script.ifPresent(
        text -> checkSize("script", text, limits.scriptBytes(), "roost.limits.script-bytes"));
    request.requirements.ifPresent(text -> checkRequirements(body, text, limits));
    request.envVars.ifPresent(
        text -> {
          checkSize("env_vars", text, limits.envVarsBytes(), "roost.limits.env-vars-bytes");
          body.reject(EnvVars.parse(text).errors());
        });
    request.name.flatMap(Names::mistake).ifPresent(m -> body.reject("name", "invalid_name", m));
    return request;
  }

  private static void checkRequirements(Body body, String text, RoostConfig.Limits limits) {
    checkSize("requirements", text, limits.requirementsBytes(), "roost.limits.requirements-bytes");
    long lines = text.lines().count();
    if (lines > limits.requirementsLines()) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          "requirements has %,d lines; the limit is %,d (setting roost.limits.requirements-lines)."
              .formatted(lines, limits.requirementsLines()));
    }
    body.reject(Requirements.parse(text).errors());
  }

  private static void checkSize(String what, String text, int limit, String setting) {
    int size = text.getBytes(StandardCharsets.UTF_8).length;
    if (size > limit) {
      throw Problem.tooLarge(what, size, limit, setting);
    }
  }

  /** Writes what was given into the agent's row, but for the name and what makes a revision. */
  void applySettings(Agent agent) {
    timeout.ifPresent(value -> agent.timeoutSeconds = value);
    memory.ifPresent(value -> agent.memoryMib = value);
    cpu.ifPresent(value -> agent.cpu = value);
    maxConcurrency.ifPresent(value -> agent.maxConcurrency = value);
    maxAttempts.ifPresent(value -> agent.maxAttempts = value);
    retryDelay.ifPresent(value -> agent.retryDelaySeconds = value);
    neverRetry.ifPresent(value -> agent.neverRetry = value.toArray(String[]::new));
    keepWarm.ifPresent(value -> agent.keepWarmSeconds = value);
    isolation.ifPresent(value -> agent.isolation = value);
  }

  static Problem nameTaken(String name) {
    return Problem.of(
        ErrorCode.CONFLICT, "There is an agent named " + Text.quote(name) + " already.");
  }
}
