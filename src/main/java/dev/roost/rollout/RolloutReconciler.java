package dev.roost.rollout;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentChanged;
import dev.roost.agent.AgentRevision;
import dev.roost.agent.OutdatedAgents;
import dev.roost.builds.Bases;
import dev.roost.builds.BasesChanged;
import dev.roost.builds.Build;
import dev.roost.builds.BuildInputs;
import dev.roost.builds.BuildReason;
import dev.roost.builds.BuilderJob;
import dev.roost.builds.BuilderJobEnded;
import dev.roost.builds.BuilderJobsChanged;
import dev.roost.cluster.Loop;
import dev.roost.cluster.Replicas;
import dev.roost.config.RoostConfig;
import dev.roost.rollout.RolloutRepository.Item;
import dev.roost.rollout.RolloutRepository.Member;
import dev.roost.runtime.Runtime;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Executes rollouts: builds a few agents at a time, and switches each agent to its new Build when
 * that is ready. An agent whose build fails keeps its current Build.
 */
@ApplicationScoped
class RolloutReconciler {
  private static final Logger LOG = Logger.getLogger(RolloutReconciler.class);
  private static final Duration AT_WORK = Duration.ofSeconds(1);
  private static final Duration AT_REST = Duration.ofSeconds(30);
  private static final int MOST = 100;

  /**
   * When this many builds have failed and fewer agents were updated, the rollout is paused once for
   * a person to check.
   */
  private static final int MANY_FAILURES = 3;

  private final RolloutRepository repository;
  private final OutdatedAgents outdated;
  private final Bases bases;
  private final Runtime runtime;
  private final RoostConfig config;
  private final Clock clock;
  private final Event<BuilderJobsChanged> builderJobs;
  private final Event<AgentChanged> agents;
  private final Loop loop;

  /** When to look for outdated agents again. */
  private volatile Instant nextLook = Instant.MIN;

  RolloutReconciler(
      RolloutRepository repository,
      OutdatedAgents outdated,
      Bases bases,
      Runtime runtime,
      RoostConfig config,
      Clock clock,
      Event<BuilderJobsChanged> builderJobs,
      Event<AgentChanged> agents,
      Replicas replicas) {
    this.repository = repository;
    this.outdated = outdated;
    this.bases = bases;
    this.runtime = runtime;
    this.config = config;
    this.clock = clock;
    this.builderJobs = builderJobs;
    this.agents = agents;
    this.loop = new Loop("rollouts", replicas, this::pass);
  }

  void start(@Observes StartupEvent event) {
    loop.start();
  }

  void stop(@Observes ShutdownEvent event) {
    loop.stop();
  }

  void wake(@Observes RolloutsChanged event) {
    loop.wake();
  }

  void wake(@Observes BasesChanged event) {
    nextLook = Instant.MIN;
    loop.wake();
  }

  void wake(@Observes BuilderJobEnded event) {
    loop.wake();
  }

  /** Returns how long to wait. */
  Duration pass() {
    Instant now = clock.instant();
    if (config.rollouts().automatic() && !now.isBefore(nextLook)) {
      nextLook = now.plus(AT_REST); // It reads all agents, and a running rollout passes often.
      beginByItself(now.minus(config.rollouts().minAge()));
    }
    boolean working = false;
    for (Item item : read(() -> repository.toUndo(MOST))) {
      undo(item);
      working = true;
    }
    List<Item> building = read(() -> repository.open(RolloutAgentState.BUILDING, MOST));
    int open = building.size();
    for (Item item : building) {
      open -= settle(item) ? 1 : 0;
    }
    int free = config.rollouts().parallel() - open;
    for (Item item : read(() -> repository.open(RolloutAgentState.QUEUED, Math.max(free, 0)))) {
      begin(item);
      working = true;
    }
    QuarkusTransaction.requiringNew().run(() -> repository.complete(clock.instant()));
    return working || open > 0 ? AT_WORK : AT_REST;
  }

  private static List<Item> read(Supplier<List<Item>> items) {
    return QuarkusTransaction.requiringNew().call(items::get);
  }

  /**
   * Starts a rollout for newly outdated agents, except those whose update failed or was undone
   * before.
   *
   * @param before only agents whose Build was created before this time
   */
  private void beginByItself(Instant before) {
    Optional<String> created =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  List<Member> members =
                      outdated.all().stream()
                          .filter(agent -> agent.job().finishedAt.isBefore(before))
                          .filter(agent -> !isTried(agent.id(), agent.job()))
                          .map(agent -> new Member(agent.id(), agent.job().id, null))
                          .toList();
                  return members.isEmpty()
                      ? Optional.empty()
                      : Optional.of(repository.make(true, members, clock.instant()));
                });
    created.ifPresent(
        id -> LOG.infof("rollout %s: agents get Builds on the current base and SDK", id));
  }

  private boolean isTried(String agent, BuilderJob before) {
    return repository.isTried(agent, now(before, before.nonce).imageKey());
  }

  private BuildInputs now(BuilderJob before, String nonce) {
    return bases.inputs(before.pythonVersion, before.requirements, nonce);
  }

  /** Queues the build that the agent needs, unless there is one already. */
  private void begin(Item item) {
    Instant now = clock.instant();
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              Agent agent = Agent.lockIfThere(item.agent()).orElse(null);
              if (!repository.hold(item.rollout(), RolloutState.RUNNING)) {
                return;
              }
              if (agent == null || !uses(agent, item.from())) {
                String message =
                    agent == null
                        ? "The agent was deleted."
                        : "The agent was updated during the rollout.";
                repository.change(item, RolloutAgentState.SKIPPED, null, null, message, now);
                return;
              }
              BuilderJob before = BuilderJob.findById(item.from());
              try {
                BuildInputs inputs =
                    now(before, item.nonce() == null ? before.nonce : item.nonce());
                if (inputs.imageKey().equals(before.imageKey) && before.hasSucceeded()) {
                  String message = "The agent is not outdated.";
                  repository.change(
                      item, RolloutAgentState.SKIPPED, null, inputs.imageKey(), message, now);
                  return;
                }
                BuilderJob job =
                    BuilderJob.latest(agent.id, inputs.imageKey())
                        .filter(same -> !same.hasFailed())
                        .orElseGet(() -> make(agent, before, inputs, now));
                repository.change(
                    item, RolloutAgentState.BUILDING, job.id, inputs.imageKey(), null, now);
              } catch (Runtime.UnsupportedPython e) {
                repository.change(item, RolloutAgentState.FAILED, null, null, e.getMessage(), now);
              }
            });
    builderJobs.fire(new BuilderJobsChanged());
  }

  private BuilderJob make(Agent agent, BuilderJob before, BuildInputs inputs, Instant now) {
    BuilderJob.Request request = new BuilderJob.Request(agent.id, before.agentRevision, inputs);
    BuilderJob created = BuilderJob.create(request, runtime.hasBuild(inputs.imageKey()), now);
    BuilderJob.flush();
    return created;
  }

  /** Updates an agent when its build has ended; returns whether it has ended. */
  private boolean settle(Item item) {
    Instant now = clock.instant();
    record Settled(boolean ended, AgentChanged change) {}
    Settled settled =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  Agent agent = Agent.lockIfThere(item.agent()).orElse(null);
                  BuilderJob job = BuilderJob.findById(item.to());
                  if (!job.hasEnded() || !repository.hold(item.rollout(), RolloutState.RUNNING)) {
                    return new Settled(job.hasEnded(), null);
                  }
                  if (job.hasFailed()) {
                    repository.change(item, RolloutAgentState.FAILED, null, null, job.message, now);
                    return new Settled(true, null);
                  }
                  if (agent == null || AgentRevision.useBuild(agent.id, item.from(), job.id) == 0) {
                    String message = "The agent was updated or deleted during the rollout.";
                    repository.change(item, RolloutAgentState.SKIPPED, null, null, message, now);
                    return new Settled(true, null);
                  }
                  BuilderJob.runNewest(job.id);
                  Build.replaced(item.from(), now);
                  repository.change(item, RolloutAgentState.UPDATED, null, null, null, now);
                  return new Settled(true, changed(agent));
                });
    if (settled.change() != null) {
      agents.fire(settled.change());
    }
    if (settled.ended()) {
      pauseAfterFailures(item.rollout());
    }
    return settled.ended();
  }

  private void pauseAfterFailures(String id) {
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              Rollout.Counts counts = repository.find(id).orElseThrow().agents();
              if (counts.failed() == MANY_FAILURES
                  && counts.updated() < MANY_FAILURES
                  && counts.queued() > 0) {
                String message =
                    "%d of %d builds have failed. Check the failed builds before you resume the rollout."
                        .formatted(counts.failed(), counts.failed() + counts.updated());
                if (repository.move(
                    id,
                    List.of(RolloutState.RUNNING),
                    RolloutState.PAUSED,
                    message,
                    clock.instant())) {
                  LOG.warnf("rollout %s is paused: %s", id, message);
                }
              }
            });
  }

  private void undo(Item item) {
    Instant now = clock.instant();
    AgentChanged change =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  Agent agent = Agent.lockIfThere(item.agent()).orElse(null);
                  if (!repository.hold(item.rollout(), RolloutState.UNDONE)) {
                    return null;
                  }
                  boolean back =
                      agent != null
                          && item.state() == RolloutAgentState.UPDATED
                          && AgentRevision.useBuild(agent.id, item.to(), item.from()) > 0;
                  if (item.state() == RolloutAgentState.BUILDING) {
                    BuilderJob.cancel(
                        item.to(), BuildReason.SUPERSEDED, "Its rollout was undone.", now);
                  }
                  boolean stays = item.state() == RolloutAgentState.UPDATED && !back;
                  repository.change(
                      item,
                      stays ? RolloutAgentState.SKIPPED : RolloutAgentState.UNDONE,
                      null,
                      null,
                      stays ? "The agent was updated or deleted after the rollout." : null,
                      now);
                  return back ? changed(agent) : null;
                });
    if (change != null) {
      agents.fire(change);
    }
    builderJobs.fire(new BuilderJobsChanged());
  }

  private static boolean uses(Agent agent, String builderJob) {
    return AgentRevision.of(agent.id, agent.revisionToRun()).builderJobId.equals(builderJob)
        || AgentRevision.of(agent.id, agent.revision).builderJobId.equals(builderJob);
  }

  private static AgentChanged changed(Agent agent) {
    Agent now = Agent.findById(agent.id);
    Agent.getEntityManager().refresh(now);
    return new AgentChanged(now.id, now.revisionToRun());
  }
}
