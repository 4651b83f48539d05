package dev.roost.agent;

import dev.roost.api.Problem;
import dev.roost.api.Problem.FieldError;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Runtime;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * The maximum memory and CPU of an agent: from the agent's profile, otherwise from the settings.
 *
 * @param memorySetting where the memory limit is configured, for a message to a person
 */
record AgentBounds(int memoryMib, String memorySetting, double cpu, String cpuSetting) {
  static AgentBounds of(RoostConfig.Limits limits, Runtime runtime, String profile) {
    Runtime.AgentLimits own = runtime.limits(profile);
    String name = "profile " + (profile == null ? "default" : profile);
    return new AgentBounds(
        own.memoryMib() == null ? limits.agentMemoryMib() : own.memoryMib(),
        own.memoryMib() == null ? "setting roost.limits.agent-memory-mib" : name,
        own.cpu() == null ? limits.agentCpu() : own.cpu(),
        own.cpu() == null ? "setting roost.limits.agent-cpu" : name);
  }

  /**
   * Checks only the fields in the request, and all fields when the profile changes. Values that an
   * agent had before a limit was lowered stay valid.
   *
   * @throws Problem validation_failed
   */
  void check(AgentRequest request, Agent agent) {
    List<FieldError> errors = new ArrayList<>();
    boolean moved = request.profile().isPresent();
    if ((moved || request.memory().isPresent()) && agent.memoryMib > memoryMib) {
      errors.add(tooMuch("memory", memoryMib, "MiB", memorySetting));
    }
    if ((moved || request.cpu().isPresent()) && agent.cpu > cpu) {
      errors.add(tooMuch("cpu", cpu, "cores", cpuSetting));
    }
    if (!errors.isEmpty()) {
      throw Problem.invalid(errors);
    }
  }

  private static FieldError tooMuch(String field, double most, String unit, String setting) {
    String limit = BigDecimal.valueOf(most).stripTrailingZeros().toPlainString();
    return new FieldError(
        "/" + field,
        "out_of_range",
        "%s must be at most %s %s (%s).".formatted(field, limit, unit, setting));
  }
}
