package dev.roost.rollout;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentRevision;
import dev.roost.agent.OutdatedAgents;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.builds.Bases;
import dev.roost.builds.BuilderJob;
import dev.roost.db.Code;
import dev.roost.rollout.RolloutRepository.Member;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/** Starts rollouts and changes their state; {@link RolloutReconciler} does the work. */
@ApplicationScoped
class Rollouts {
  private final RolloutRepository repository;
  private final OutdatedAgents outdated;
  private final Bases bases;
  private final Clock clock;
  private final Event<RolloutsChanged> changed;

  Rollouts(
      RolloutRepository repository,
      OutdatedAgents outdated,
      Bases bases,
      Clock clock,
      Event<RolloutsChanged> changed) {
    this.repository = repository;
    this.outdated = outdated;
    this.bases = bases;
    this.clock = clock;
    this.changed = changed;
  }

  /**
   * Starts a rollout for outdated agents.
   *
   * @param agentIds only these agents; empty: all
   * @throws Problem validation_failed for an agent that doesn't exist
   */
  Rollout start(Set<String> agentIds) {
    return make(
        () -> {
          repository
              .unknownAgent(agentIds)
              .ifPresent(
                  id -> {
                    throw Problem.invalid(
                        "/agent_ids", "not_found", "There is no agent " + Text.quote(id) + ".");
                  });
          return outdated.all().stream()
              .filter(agent -> agentIds.isEmpty() || agentIds.contains(agent.id()))
              .map(agent -> new Member(agent.id(), agent.job().id, null))
              .toList();
        });
  }

  /**
   * Builds an agent again even if no input is newer, to update indirect dependencies without a
   * pinned version. A failed build is tried again.
   *
   * @throws Problem not_found
   */
  Rollout rebuild(String agentId) {
    return make(
        () -> {
          Agent agent = Agent.require(agentId);
          BuilderJob newest = job(agent, agent.revision);
          BuilderJob job = newest.hasFailed() ? newest : job(agent, agent.revisionToRun());
          if (job.hasEnded() && !bases.offers(job.pythonVersion)) {
            throw conflict(
                "Python %s is no longer offered. Change the agent's python_version."
                    .formatted(job.pythonVersion));
          }
          if (!job.hasEnded()) {
            throw conflict("The agent is being built: BuilderJob " + job.id + ".");
          }
          return List.of(new Member(agentId, job.id, UUID.randomUUID().toString()));
        });
  }

  /**
   * @throws Problem not_found, conflict
   */
  Rollout pause(String id) {
    return move(id, List.of(RolloutState.RUNNING), RolloutState.PAUSED);
  }

  /**
   * @throws Problem not_found, conflict
   */
  Rollout resume(String id) {
    return move(id, List.of(RolloutState.PAUSED), RolloutState.RUNNING);
  }

  /**
   * Switches the rollout's agents back to their previous Builds. Agents that were deployed since
   * then don't change.
   *
   * @throws Problem not_found, conflict
   */
  Rollout undo(String id) {
    return move(
        id,
        List.of(RolloutState.RUNNING, RolloutState.PAUSED, RolloutState.COMPLETED),
        RolloutState.UNDONE);
  }

  private static BuilderJob job(Agent agent, int revision) {
    return BuilderJob.findById(AgentRevision.of(agent.id, revision).builderJobId);
  }

  private static Problem conflict(String detail) {
    return Problem.of(ErrorCode.CONFLICT, detail);
  }

  private Rollout make(Supplier<List<Member>> members) {
    Rollout created =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  String id = repository.make(false, members.get(), clock.instant());
                  return repository.find(id).orElseThrow();
                });
    changed.fire(new RolloutsChanged());
    return created;
  }

  private Rollout move(String id, List<RolloutState> from, RolloutState to) {
    Rollout moved =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  Rollout before =
                      repository.find(id).orElseThrow(() -> Problem.notFound("rollout", id));
                  if (before.state() != to
                      && !repository.move(id, from, to, null, clock.instant())) {
                    throw conflict(
                        "The rollout is %s; only one that is %s can be %s."
                            .formatted(
                                before.state().code(),
                                String.join(" or ", Code.of(from)),
                                to == RolloutState.RUNNING ? "resumed" : to.code()));
                  }
                  return repository.find(id).orElseThrow();
                });
    changed.fire(new RolloutsChanged());
    return moved;
  }
}
