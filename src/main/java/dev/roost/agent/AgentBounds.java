package dev.roost.agent;

import dev.roost.api.Problem;
import dev.roost.api.Problem.FieldError;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Runtime;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * The most that an agent may ask for: what the settings say for all, or its profile for itself.
 *
 * @param memorySetting where that is set, for a person
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
   * Looks at what was given and what it meets; what an agent had before a limit was lowered stays.
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
