package dev.roost.executor;

import dev.roost.agent.AgentRevision;
import dev.roost.build.BuildInputs;
import dev.roost.build.BuilderJob;
import dev.roost.build.BuilderJobsChanged;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.SdkWheel;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import java.time.Clock;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * After an upgrade of Roost, agents that require its SDK in no certain version get the SDK of this
 * one. It is built once they are needed again, and they run with the one before until it is there,
 * also when it can't be built.
 */
@ApplicationScoped
class SdkUpgrades {
  private static final int MAX_KNOWN = 10_000;

  private final Runtime runtime;
  private final Event<BuilderJobsChanged> builderJobs;
  private final Clock clock;

  /** BuilderJobs with nothing to upgrade. Only the reconciler's thread touches it. */
  private final Set<String> current = new HashSet<>();

  SdkUpgrades(Runtime runtime, Event<BuilderJobsChanged> builderJobs, Clock clock) {
    this.runtime = runtime;
    this.builderJobs = builderJobs;
    this.clock = clock;
  }

  /** What goes into a Build that is made again: with another SDK it is another one. */
  BuildInputs inputs(BuilderJob before) {
    List<String> requirements = before.requirements.lines().toList();
    return SdkWheel.isRequired(requirements) && offers(before.pythonVersion)
        ? BuildInputs.now(runtime, before.pythonVersion, requirements)
        : BuildInputs.of(before);
  }

  /**
   * Orders the build that is missing, or takes one that is there.
   *
   * @param builderJobId whose Build the agent runs on
   */
  void look(String agentId, String builderJobId) {
    if (current.contains(builderJobId)) {
      return;
    }
    boolean upgrading =
        QuarkusTransaction.requiringNew().call(() -> upgrade(agentId, builderJobId));
    if (upgrading) {
      builderJobs.fire(new BuilderJobsChanged());
    } else {
      if (current.size() == MAX_KNOWN) {
        current.clear();
      }
      current.add(builderJobId);
    }
  }

  /** Answers whether there is an upgrade to make. */
  private boolean upgrade(String agentId, String builderJobId) {
    BuilderJob before = BuilderJob.findById(builderJobId);
    if (!SdkWheel.isFollowed(before.requirements.lines().toList())) {
      return false;
    }
    BuildInputs inputs = inputs(before);
    if (inputs.imageKey().equals(before.imageKey)) {
      return false;
    }
    Instant now = clock.instant();
    BuilderJob upgrade =
        BuilderJob.latest(agentId, inputs.imageKey()).orElseGet(() -> order(before, inputs, now));
    if (upgrade.hasSucceeded() && runtime.hasBuild(inputs.imageKey())) {
      AgentRevision.update(
          "builderJobId = ?1 where agentId = ?2 and builderJobId = ?3",
          upgrade.id,
          agentId,
          builderJobId);
    }
    return !upgrade.hasFailed();
  }

  private BuilderJob order(BuilderJob before, BuildInputs inputs, Instant now) {
    BuilderJob.Order order = new BuilderJob.Order(before.agentId, before.agentRevision, inputs);
    BuilderJob made = BuilderJob.make(order, runtime.hasBuild(inputs.imageKey()), now);
    BuilderJob.flush();
    return made;
  }

  private boolean offers(String pythonVersion) {
    return runtime.describe().pythonVersions().contains(pythonVersion);
  }
}
