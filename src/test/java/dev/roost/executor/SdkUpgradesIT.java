package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.roost.FiredEvents;
import dev.roost.FollowerDatabase;
import dev.roost.TestRuntime;
import dev.roost.agent.AgentRequest;
import dev.roost.agent.AgentRevision;
import dev.roost.agent.Agents;
import dev.roost.build.BuildInputs;
import dev.roost.build.BuilderJob;
import dev.roost.build.BuilderJobsChanged;
import dev.roost.runtime.SdkWheel;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What becomes of an agent's Build that holds the SDK of another version of Roost. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class SdkUpgradesIT {
  /** Every Build is there. */
  private static final TestRuntime RUNTIME =
      new TestRuntime() {
        @Override
        public boolean hasBuild(String imageKey) {
          return true;
        }
      };

  @Inject Agents agents;
  @Inject Clock clock;

  private final FiredEvents<BuilderJobsChanged> fired = new FiredEvents<>();

  /** Answers the agent, which runs on a Build of before the upgrade. */
  private String builtBefore(String requirements) {
    String agent =
        agents.create(
            AgentRequest.of("agent " + UUID.randomUUID(), "def main(): pass", requirements));
    end(builderJob(agent), "succeeded", "before " + agent);
    return agent;
  }

  private void end(String job, String state, String imageKey) {
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                BuilderJob.update("state = ?1, imageKey = ?2 where id = ?3", state, imageKey, job));
  }

  private String builderJob(String agent) {
    return QuarkusTransaction.requiringNew().call(() -> AgentRevision.of(agent, 1).builderJobId);
  }

  private List<BuilderJob> builderJobs(String agent) {
    return QuarkusTransaction.requiringNew()
        .call(() -> BuilderJob.list("agentId = ?1 order by createdAt, id", agent));
  }

  private SdkUpgrades upgrades() {
    return new SdkUpgrades(RUNTIME, fired, clock);
  }

  @Test
  void theSdkIsBuiltOnceAndTheAgentRunsOnTheOneBeforeUntilThen() {
    String agent = builtBefore("roost[cli]");
    String before = builderJob(agent);
    SdkUpgrades upgrades = upgrades();
    upgrades.look(agent, before);
    upgrades.look(agent, before);
    assertEquals(2, builderJobs(agent).size());
    BuilderJob upgrade = builderJobs(agent).get(1);
    String key = BuildInputs.now(RUNTIME, upgrade.pythonVersion, List.of("roost[cli]")).imageKey();
    assertEquals(key, upgrade.imageKey);
    assertEquals("roost[cli]", upgrade.requirements);
    assertEquals(before, builderJob(agent));

    end(upgrade.id, "succeeded", key);
    upgrades.look(agent, before);
    assertEquals(upgrade.id, builderJob(agent));
    upgrades.look(agent, upgrade.id);
    assertEquals(2, builderJobs(agent).size());
  }

  @Test
  void anUpgradeThatCanNotBeBuiltReplacesNothingAndIsNotTriedAgain() {
    String agent = builtBefore("roost");
    String before = builderJob(agent);
    upgrades().look(agent, before);
    BuilderJob upgrade = builderJobs(agent).get(1);
    end(upgrade.id, "failed", upgrade.imageKey);
    upgrades().look(agent, before);
    assertEquals(before, builderJob(agent));
    assertEquals(2, builderJobs(agent).size());
  }

  @Test
  void whatRequiresACertainVersionOrNoSdkStays() {
    for (String requirements :
        List.of("roost==" + SdkWheel.own().version(), "roost-tools==1.0", "")) {
      String agent = builtBefore(requirements);
      upgrades().look(agent, builderJob(agent));
      assertEquals(1, builderJobs(agent).size(), requirements);
    }
  }

  @Test
  void aBuildThatIsMadeAgainIsNamedByTheSdkItGets() {
    String agent = builtBefore("roost==" + SdkWheel.own().version());
    BuilderJob before = builderJobs(agent).get(0);
    assertNotEquals(before.imageKey, upgrades().inputs(before).imageKey());
    String other = builtBefore("six==1.17.0");
    BuilderJob without = builderJobs(other).get(0);
    assertEquals(without.imageKey, upgrades().inputs(without).imageKey());
  }
}
