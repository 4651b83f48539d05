package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.TestRuntime;
import dev.roost.api.Body;
import dev.roost.api.Problem;
import dev.roost.api.Problem.FieldError;
import dev.roost.config.RoostConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class AgentBoundsTest {
  private static final RoostConfig.Limits LIMITS =
      new SmallRyeConfigBuilder()
          .addDiscoveredConverters()
          .withMapping(RoostConfig.class)
          .withDefaultValue("roost.data", "/nowhere")
          .withDefaultValue("roost.limits.agent-memory-mib", "1024")
          .withDefaultValue("roost.limits.agent-cpu", "1.5")
          .build()
          .getConfigMapping(RoostConfig.class)
          .limits();

  /** A runtime whose profile gpu has bounds of its own. */
  private static final class Profiles extends TestRuntime {
    @Override
    public Description describe() {
      Description plain = super.describe();
      return new Description(
          "kubernetes",
          plain.pythonVersions(),
          plain.defaultPythonVersion(),
          plain.platform(),
          plain.maxExecutors(),
          List.of("gpu", "small"));
    }

    @Override
    public AgentLimits limits(String profile) {
      return "gpu".equals(profile)
          ? new AgentLimits(65_536, null)
          : "small".equals(profile) ? new AgentLimits(128, 0.25) : new AgentLimits(null, null);
    }
  }

  /** The refusal of a request to an agent that has 512 MiB and 1 core. */
  private static List<String> refused(String json, String profile) {
    Body body = Body.parse(json.getBytes(StandardCharsets.UTF_8));
    AgentRequest request = AgentRequest.read(body, LIMITS, new Profiles(), List.of());
    body.check();
    Agent agent = new Agent();
    agent.memoryMib = 512;
    agent.cpu = 1;
    request.applySettings(agent);
    AgentBounds bounds = AgentBounds.of(LIMITS, new Profiles(), profile);
    Problem problem = assertThrows(Problem.class, () -> bounds.check(request, agent));
    return problem.errors().stream().map(FieldError::detail).toList();
  }

  private static void accepted(String json, String profile) {
    assertDoesNotThrow(
        () -> {
          try {
            refused(json, profile);
          } catch (AssertionError e) {
            return; // nothing was refused
          }
          throw new IllegalStateException("refused: " + json);
        });
  }

  @Test
  void whatIsMoreThanAnyAgentMayHaveIsRefusedWithTheLimit() {
    assertEquals(
        List.of("memory must be at most 1024 MiB (setting roost.limits.agent-memory-mib)."),
        refused("{\"memory\": 204800}", null));
    assertEquals(
        List.of("cpu must be at most 1.5 cores (setting roost.limits.agent-cpu)."),
        refused("{\"cpu\": 1.6}", null));
    accepted("{\"memory\": 1024, \"cpu\": 1.5}", null);
  }

  @Test
  void aProfileHasBoundsOfItsOwn() {
    accepted("{\"memory\": 65536}", "gpu");
    assertEquals(
        List.of("memory must be at most 65536 MiB (profile gpu)."),
        refused("{\"memory\": 65537}", "gpu"));
    assertEquals(
        List.of("cpu must be at most 1.5 cores (setting roost.limits.agent-cpu)."),
        refused("{\"cpu\": 2}", "gpu"));
  }

  @Test
  void whoeverChoosesAProfileMustFitIt() {
    assertEquals(
        List.of(
            "memory must be at most 128 MiB (profile small).",
            "cpu must be at most 0.25 cores (profile small)."),
        refused("{\"profile\": \"small\"}", "small"));
    accepted("{\"timeout\": 5}", "small");
  }
}
