package dev.roost.executor;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentChanged;
import dev.roost.config.RoostConfig;
import dev.roost.execution.Execution;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The executors that talk to this replica, and their leases. */
@ApplicationScoped
class Sessions {
  /** How often a lease is written down, however often its executor is heard of. */
  private static final Duration RENEW_EVERY = Duration.ofSeconds(5);

  private final Map<String, Session> sessions = new ConcurrentHashMap<>();
  private final Map<String, Long> renewedAt = new ConcurrentHashMap<>();
  private final Duration lease;
  private final Clock clock;

  Sessions(RoostConfig config, Clock clock) {
    this.lease = config.executors().lease();
    this.clock = clock;
  }

  /** The session of an executor that polls, or nothing when it is to stop. */
  Optional<Session> open(String executorId) {
    renew(executorId);
    Session known = sessions.get(executorId);
    if (known != null) {
      return Optional.of(known);
    }
    Optional<Session> fresh = QuarkusTransaction.requiringNew().call(() -> read(executorId));
    fresh.ifPresent(session -> sessions.put(executorId, session));
    return fresh;
  }

  /** An executor has shown that it is alive. */
  Optional<Session> heard(String executorId) {
    renew(executorId);
    return Optional.ofNullable(sessions.get(executorId));
  }

  Optional<Session> forget(String executorId) {
    renewedAt.remove(executorId);
    return Optional.ofNullable(sessions.remove(executorId));
  }

  void agentChanged(AgentChanged change) {
    for (Session session : sessions.values()) {
      if (session.target().agentId().equals(change.agentId())
          && session.target().agentRevision() != change.revision()) {
        session.becomesStale();
      }
    }
  }

  /**
   * How many executors of a target wait for work, or are about to: one that has just sent its last
   * frame asks for work a moment later, long before another one could be started.
   */
  int free(Target target) {
    return (int)
        sessions.values().stream()
            .filter(session -> session.target().equals(target) && session.isFree())
            .count();
  }

  private Optional<Session> read(String executorId) {
    Executor executor = Executor.findById(executorId);
    if (executor == null || executor.state.equals("stopping") || executor.state.equals("ended")) {
      return Optional.empty();
    }
    Executor.ready(executorId, clock.instant());
    Agent agent = Agent.findById(executor.agentId);
    boolean served = Execution.count("executorId", executorId) > 0;
    Session session =
        new Session(
            executorId,
            new Target(executor.agentId, executor.agentRevision),
            agent.isolation.equals("pod"),
            Duration.ofNanos((long) (agent.keepWarmSeconds * 1e9)),
            served);
    if (agent.deletedAt != null || agent.revision != executor.agentRevision) {
      session.becomesStale();
    }
    if (served) {
      // After a restart of the control plane: what it was given may not have arrived, or is long
      // done.
      session.working = Execution.runningOn(executorId).map(execution -> execution.id).orElse(null);
    }
    return Optional.of(session);
  }

  private void renew(String executorId) {
    long now = System.nanoTime();
    Long before = renewedAt.get(executorId);
    if (before == null || now - before > RENEW_EVERY.toNanos()) {
      renewedAt.put(executorId, now);
      QuarkusTransaction.requiringNew().run(() -> Executor.renew(executorId, lease));
    }
  }
}
