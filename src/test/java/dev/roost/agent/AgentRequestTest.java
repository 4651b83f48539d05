package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.TestRuntime;
import dev.roost.api.Body;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import dev.roost.runtime.Egress;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentRequestTest {
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

  private static AgentRequest read(String json, boolean profiles) {
    Body body = Body.parse(json.getBytes(StandardCharsets.UTF_8));
    AgentRequest request =
        AgentRequest.read(body, LIMITS, profiles ? new Sandboxes() : new TestRuntime(), List.of());
    body.check();
    return request;
  }

  /** A runtime with a profile, and with network policies. */
  private static final class Sandboxes extends TestRuntime {
    @Override
    public Description describe() {
      Description plain = super.describe();
      return new Description(
          "kubernetes",
          plain.pythonVersions(),
          plain.defaultPythonVersion(),
          plain.platform(),
          plain.maxExecutors(),
          List.of("gvisor"));
    }

    @Override
    public Optional<String> refusal(Egress egress) {
      return Optional.empty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"memory\": 99999999999}      | /memory  | must be from 16",
        "{\"memory\": 15}               | /memory  | must be from 16",
        "{\"cpu\": 1e300}               | /cpu     | must be from 0.01",
        "{\"profile\": \"gvisor\"}      | /profile | has no profiles",
        "{\"profile\": \"\"}            | /profile | has no profiles",
        "{\"profile\": 3}               | /profile | a string",
        "{\"egress\": \"none\"}         | /egress  | cannot restrict",
        "{\"egress\": \"10.0.0.7:443\"} | /egress  | cannot restrict",
        "{\"egress\": \"example.org:443\"} | /egress | is a host name",
        "{\"egress\": null}             | /egress  | Leave the field out",
        "{\"preload\": \"on\"}          | /preload | must be one of auto, off",
        "{\"preload\": false}           | /preload | a string",
        "{\"preload\": null}            | /preload | Leave the field out",
      })
  void whatIsNotOfferedIsRefusedAtItsField(String json, String pointer, String detail) {
    Problem refused = assertThrows(Problem.class, () -> read(json, false), json);
    Problem.FieldError error = refused.errors().get(0);
    assertEquals(pointer, error.pointer());
    assertTrue(error.detail().contains(detail), error.detail());
  }

  @Test
  void whatIsWithinTheBoundsIsTaken() {
    AgentRequest request =
        read("{\"memory\": 1024, \"cpu\": 1.5, \"profile\": null, \"egress\": \"all\"}", false);
    assertEquals(Optional.of(1024), request.memory());
    assertEquals(Optional.of(1.5), request.cpu());
    assertEquals(Optional.of(Optional.empty()), request.profile());
    assertEquals(Optional.of("all"), request.egress());
    assertEquals(Optional.empty(), read("{}", false).profile());
  }

  @Test
  void whatTheOperatorOffersCanBeChosen() {
    AgentRequest request =
        read("{\"profile\": \"gvisor\", \"egress\": \" 10.0.0.7/32:443 \"}", true);
    assertEquals(Optional.of(Optional.of("gvisor")), request.profile());
    assertEquals(Optional.of("10.0.0.7:443"), request.egress());
    Problem refused = assertThrows(Problem.class, () -> read("{\"profile\": \"kata\"}", true));
    assertTrue(refused.errors().get(0).detail().contains("gvisor"));
  }

  @Test
  void preloadingCanBeTurnedOnAndOff() {
    assertEquals(Optional.of(Preload.OFF), read("{\"preload\": \"off\"}", false).preload());
    assertEquals(Optional.of(Preload.AUTO), read("{\"preload\": \"auto\"}", false).preload());
    assertEquals(Optional.empty(), read("{}", false).preload());
    assertEquals(AgentDefaults.PRELOAD_CODE, AgentDefaults.PRELOAD.code());
  }

  @Test
  void theWayBackToARevisionTakesItsProfileAndEgress() {
    AgentRevision revision = new AgentRevision();
    revision.script = "";
    revision.requirements = "";
    revision.envVars = "";
    revision.pythonVersion = "3.13";
    revision.egress = "none";
    assertEquals(Optional.of(Optional.empty()), AgentRequest.of(revision).profile());
    assertEquals(Optional.of("none"), AgentRequest.of(revision).egress());
    revision.preload = Preload.OFF;
    assertEquals(Optional.of(Preload.OFF), AgentRequest.of(revision).preload());
    AgentRevision other = new AgentRevision();
    other.script = other.requirements = other.envVars = "";
    other.pythonVersion = "3.13";
    assertTrue(!other.runsTheSameAs(revision));
    other.egress = "none";
    assertTrue(!other.runsTheSameAs(revision));
    other.preload = Preload.OFF;
    assertTrue(other.runsTheSameAs(revision));
    other.profile = "gvisor";
    assertTrue(!other.runsTheSameAs(revision));
  }
}
