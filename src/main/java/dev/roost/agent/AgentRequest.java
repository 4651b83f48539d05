package dev.roost.agent;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.ReadableNames;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Egress;
import dev.roost.runtime.Runtime;
import java.util.List;
import java.util.Optional;

/**
 * The validated fields of a request that creates or changes an agent. All fields are optional,
 * since a change lists only the changed fields.
 *
 * @param profile an empty inner value: the default profile
 * @param egress in the format of {@link Egress#text}
 * @param inputSchema a JSON Schema without mistakes; an empty inner value: none
 * @param outputSchema like inputSchema
 * @param toolName an empty inner value: the agent is not a tool
 * @param toolDescription an empty inner value: none
 * @param bundleId an empty inner value: the script is all of the agent's code
 * @param scriptPath of the script in the bundle; an empty inner value: there is no bundle
 */
public record AgentRequest(
    Optional<String> name,
    Optional<String> script,
    Optional<RequirementsText> requirements,
    Optional<String> envVars,
    Optional<String> pythonVersion,
    Optional<List<String>> storeIds,
    Optional<Double> timeout,
    Optional<Integer> memory,
    Optional<Double> cpu,
    Optional<Integer> maxConcurrency,
    Optional<KeyScope> concurrencyKeyScope,
    Optional<Integer> maxAttempts,
    Optional<Double> retryDelay,
    Optional<List<String>> neverRetry,
    Optional<Double> keepWarm,
    Optional<String> isolation,
    Optional<Integer> requestsPerProcess,
    Optional<Optional<String>> profile,
    Optional<String> egress,
    Optional<Preload> preload,
    Optional<Optional<String>> inputSchema,
    Optional<Optional<String>> outputSchema,
    Optional<List<String>> tags,
    Optional<Optional<String>> toolName,
    Optional<Optional<String>> toolDescription,
    Optional<Optional<String>> bundleId,
    Optional<Optional<String>> scriptPath) {

  private static final int DAY_SECONDS = 86_400;

  /** An agent with defaults for all other fields. */
  public static AgentRequest of(String name, String script, String requirements) {
    return ofRun(
        Optional.of(name),
        script,
        RequirementsText.parse(requirements),
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

  /** A change back to the code and environment of an earlier revision. */
  static AgentRequest of(AgentRevision revision) {
    return ofRun(
        Optional.empty(),
        revision.script,
        RequirementsText.parse(revision.requirements),
        Optional.of(revision.envVars),
        Optional.of(revision.pythonVersion),
        Optional.of(Optional.ofNullable(revision.profile)),
        Optional.of(revision.egress),
        Optional.of(revision.preload),
        Optional.of(Optional.ofNullable(revision.inputSchema)),
        Optional.of(Optional.ofNullable(revision.outputSchema)),
        Optional.of(Optional.ofNullable(revision.bundleId)),
        Optional.of(Optional.ofNullable(revision.scriptPath)));
  }

  private static AgentRequest ofRun(
      Optional<String> name,
      String script,
      RequirementsText requirements,
      Optional<String> envVars,
      Optional<String> pythonVersion,
      Optional<Optional<String>> profile,
      Optional<String> egress,
      Optional<Preload> preload,
      Optional<Optional<String>> inputSchema,
      Optional<Optional<String>> outputSchema,
      Optional<Optional<String>> bundleId,
      Optional<Optional<String>> scriptPath) {
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
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        profile,
        egress,
        preload,
        inputSchema,
        outputSchema,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        bundleId,
        scriptPath);
  }

  /**
   * Reads and validates the body of a request. The caller adds its own checks and calls {@link
   * Body#check}.
   *
   * @param runtime determines the valid profiles and Python versions
   * @param reasons failure reasons of executions
   * @throws Problem too_large
   */
  public static AgentRequest read(
      Body body, RoostConfig.Limits limits, Runtime runtime, List<String> reasons) {
    Runtime.Description offered = runtime.describe();
    AgentRequest request =
        new AgentRequest(
            body.string("name"),
            body.string("script"),
            requirements(body, limits),
            body.string("env_vars"),
            body.choice("python_version", offered.pythonVersions()),
            body.strings("store_ids"),
            body.number("timeout", 0.1, DAY_SECONDS),
            body.integer("memory", 16, Integer.MAX_VALUE),
            body.number("cpu", 0.01, Integer.MAX_VALUE),
            body.integer("max_concurrency", 1, 1_000),
            body.choice("concurrency_key_scope", KeyScope.class),
            body.integer("max_attempts", 1, 10),
            body.number("retry_delay", 0, DAY_SECONDS),
            body.choices("never_retry", reasons),
            body.number("keep_warm", 0, DAY_SECONDS),
            body.choice("isolation", List.of("process", "pod")),
            body.integer("requests_per_process", 1, SharedProcess.MOST_REQUESTS),
            profile(body, offered.profiles()),
            egress(body, runtime),
            body.choice("preload", Preload.class),
            schema(body, "input_schema"),
            schema(body, "output_schema"),
            AgentTags.read(body, "tags"),
            AgentTool.readName(body),
            AgentTool.readDescription(body),
            nullable(body, "bundle_id"),
            nullable(body, "script_path"));
    request.script.ifPresent(text -> checkScript(text, limits));
    request.envVars.ifPresent(
        text -> {
          checkSize("env_vars", text, limits.envVarsBytes(), "roost.limits.env-vars-bytes");
          body.reject(EnvVars.parse(text).errors());
        });
    request
        .name
        .flatMap(ReadableNames::mistake)
        .ifPresent(m -> body.reject("name", "invalid_name", m));
    return request;
  }

  private static Optional<Optional<String>> nullable(Body body, String name) {
    return body.isNull(name) ? Optional.of(Optional.empty()) : body.string(name).map(Optional::of);
  }

  /** The same with other stores. */
  public AgentRequest withStoreIds(List<String> ids) {
    return with(script, Optional.of(ids), bundleId, scriptPath);
  }

  /** The same for an agent whose script is all of its code. */
  AgentRequest withoutBundle() {
    return with(script, storeIds, Optional.of(Optional.empty()), Optional.of(Optional.empty()));
  }

  /**
   * The same with the script of a bundle.
   *
   * @param text null: the script doesn't change
   */
  AgentRequest withSource(String text, AgentBundles.Source source) {
    return with(
        Optional.ofNullable(text),
        storeIds,
        Optional.of(Optional.of(source.bundleId())),
        Optional.of(Optional.of(source.scriptPath())));
  }

  private AgentRequest with(
      Optional<String> otherScript,
      Optional<List<String>> otherStores,
      Optional<Optional<String>> otherBundle,
      Optional<Optional<String>> otherPath) {
    return new AgentRequest(
        name,
        otherScript,
        requirements,
        envVars,
        pythonVersion,
        otherStores,
        timeout,
        memory,
        cpu,
        maxConcurrency,
        concurrencyKeyScope,
        maxAttempts,
        retryDelay,
        neverRetry,
        keepWarm,
        isolation,
        requestsPerProcess,
        profile,
        egress,
        preload,
        inputSchema,
        outputSchema,
        tags,
        toolName,
        toolDescription,
        otherBundle,
        otherPath);
  }

  private static Optional<Optional<String>> profile(Body body, List<String> offered) {
    if (body.isNull("profile")) {
      return Optional.of(Optional.empty());
    }
    Optional<String> given = body.string("profile");
    if (given.isEmpty() || offered.contains(given.get())) {
      return given.map(Optional::of);
    }
    body.reject(
        "profile",
        "not_a_choice",
        offered.isEmpty()
            ? "profile must be null: this Roost has no profiles."
            : "profile must be null or one of " + String.join(", ", offered) + ".");
    return Optional.empty();
  }

  private static Optional<Optional<String>> schema(Body body, String name) {
    if (body.isNull(name)) {
      return Optional.of(Optional.empty());
    }
    int size = body.sizeBytes(name);
    if (size > ValueSchema.MOST_BYTES) {
      body.reject(
          name,
          "too_large",
          "%s has %,d bytes; a schema can have at most %,d."
              .formatted(name, size, ValueSchema.MOST_BYTES));
      return Optional.empty();
    }
    Optional<JsonText> text = body.json(name);
    text.ifPresent(given -> body.reject(ValueSchema.mistakes(given, "/" + name)));
    return text.map(given -> Optional.of(given.text()));
  }

  private static Optional<String> egress(Body body, Runtime runtime) {
    return body.string("egress")
        .flatMap(
            text -> {
              try {
                Egress egress = Egress.parse(text);
                Optional<String> refusal = runtime.refusal(egress);
                refusal.ifPresent(why -> body.reject("egress", "egress_not_allowed", why));
                return refusal.isEmpty() ? Optional.of(egress.text()) : Optional.empty();
              } catch (IllegalArgumentException e) {
                body.reject("egress", "invalid_egress", e.getMessage());
                return Optional.empty();
              }
            });
  }

  /** The limits come first, so that no larger text is parsed. */
  private static Optional<RequirementsText> requirements(Body body, RoostConfig.Limits limits) {
    Optional<RequirementsText> requirements =
        body.string("requirements")
            .map(
                text -> {
                  checkSize(text, limits);
                  return RequirementsText.parse(text);
                });
    requirements.ifPresent(parsed -> body.reject(parsed.errors()));
    return requirements;
  }

  private static void checkSize(String text, RoostConfig.Limits limits) {
    checkSize("requirements", text, limits.requirementsBytes(), "roost.limits.requirements-bytes");
    long lines = text.lines().count();
    if (lines > limits.requirementsLines()) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          "requirements has %,d lines; the limit is %,d (setting roost.limits.requirements-lines)."
              .formatted(lines, limits.requirementsLines()));
    }
  }

  /**
   * @throws Problem too_large
   */
  public static void checkScript(String text, RoostConfig.Limits limits) {
    checkSize("script", text, limits.scriptBytes(), "roost.limits.script-bytes");
  }

  private static void checkSize(String what, String text, int limit, String setting) {
    int size = Text.sizeBytes(text);
    if (size > limit) {
      throw Problem.tooLarge(what, size, limit, setting);
    }
  }

  /**
   * Copies the fields of the request to the agent's row, except the names and the fields of a
   * revision.
   */
  void applySettings(Agent agent) {
    timeout.ifPresent(value -> agent.timeoutSeconds = value);
    memory.ifPresent(value -> agent.memoryMib = value);
    cpu.ifPresent(value -> agent.cpu = value);
    maxConcurrency.ifPresent(value -> agent.maxConcurrency = value);
    concurrencyKeyScope.ifPresent(value -> agent.concurrencyKeyScope = value);
    maxAttempts.ifPresent(value -> agent.maxAttempts = value);
    retryDelay.ifPresent(value -> agent.retryDelaySeconds = value);
    neverRetry.ifPresent(value -> agent.neverRetry = value.toArray(String[]::new));
    keepWarm.ifPresent(value -> agent.keepWarmSeconds = value);
    isolation.ifPresent(value -> agent.isolation = value);
    requestsPerProcess.ifPresent(value -> agent.requestsPerProcess = value);
    toolDescription.ifPresent(value -> agent.toolDescription = value.orElse(null));
  }

  static Problem nameTaken(String name) {
    return Problem.of(
        ErrorCode.CONFLICT, "An agent already has the name " + Text.quote(name) + ".");
  }
}
