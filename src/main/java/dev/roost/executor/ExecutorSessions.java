package dev.roost.executor;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentChanged;
import dev.roost.config.RoostConfig;
import dev.roost.db.Sql;
import dev.roost.state.ExecutorState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The executors that poll this replica, and their leases. */
@ApplicationScoped
class ExecutorSessions {
  /** The minimum interval between two writes of the same lease. */
  private static final Duration RENEW_EVERY = Duration.ofSeconds(5);

  /** The number of remembered renewals from which on old ones are removed. */
  private static final int MANY = 1_000;

  private static final Sql RENEW =
      Sql.of(
          """
          update executor x set lease_expires_at = now() + make_interval(secs => :seconds)
          where x.id = :id
          returning x.state in ('starting', 'ready') as stays,
            (select string_agg(e.id, ' ') from execution e
              where e.executor_id = x.id and e.state = 'running') as running""");

  private static final Sql HISTORY =
      Sql.of(
          """
          select h.running, h.running is not null or h.finished is not null as served,
            coalesce(extract(epoch from now() - h.finished), 0) as idle
          from (
            select (select max(e.finished_at) from execution e where e.executor_id = :id) as finished,
              (select string_agg(e.id, ' ') from execution e
                where e.executor_id = :id and e.state = 'running') as running) h""");

  private final Map<String, ExecutorSession> sessions = new ConcurrentHashMap<>();
  private final Map<String, Long> renewedAt = new ConcurrentHashMap<>();
  private final EntityManager entities;
  private final Duration lease;
  private final Clock clock;
  private final Event<ExecutorMoved> moved;

  ExecutorSessions(
      EntityManager entities, RoostConfig config, Clock clock, Event<ExecutorMoved> moved) {
    this.entities = entities;
    this.lease = config.executors().lease();
    this.clock = clock;
    this.moved = moved;
  }

  /**
   * The database's result of renewing a lease.
   *
   * @param stays false when the executor is to stop or has ended
   * @param running the Executions that it was given and that have not ended
   */
  private record Lease(boolean stays, List<String> running) {}

  /** An executor's past and current executions. */
  private record History(List<String> running, boolean served, double idleSeconds) {}

  /**
   * Returns the session of an executor that polls; empty when the executor is to stop.
   *
   * @param polls the number of this poll, from 1; null when the executor doesn't count its polls
   */
  Optional<ExecutorSession> open(String executorId, Integer polls) {
    ExecutorSession known = sessions.get(executorId);
    if (known != null && !known.continuesWith(polls)) {
      // It has polled another replica in between, and may have worked.
      sessions.remove(executorId, known);
      known = null;
    }
    Optional<Lease> renewed = renew(executorId);
    if (known == null) {
      return openAnew(executorId, polls);
    }
    if (renewed.isPresent()) {
      if (!renewed.get().stays()) {
        forget(executorId);
        return Optional.empty();
      }
      // Another replica may have answered an earlier poll, and that answer was lost.
      known.has(renewed.get().running());
    }
    return Optional.of(known);
  }

  private Optional<ExecutorSession> openAnew(String executorId, Integer polls) {
    Optional<ExecutorSession> fresh =
        QuarkusTransaction.requiringNew().call(() -> read(executorId, polls));
    fresh.ifPresent(
        session -> {
          sessions.put(executorId, session);
          if (polls != null && polls > 1) {
            moved.fire(new ExecutorMoved(executorId));
          }
        });
    return fresh;
  }

  /** An executor has shown that it is alive. */
  Optional<ExecutorSession> heard(String executorId) {
    renew(executorId);
    return Optional.ofNullable(sessions.get(executorId));
  }

  Optional<ExecutorSession> forget(String executorId) {
    renewedAt.remove(executorId);
    return Optional.ofNullable(sessions.remove(executorId));
  }

  void forgetAll() {
    renewedAt.clear();
    sessions.clear();
  }

  void agentChanged(AgentChanged change) {
    List<ExecutorSession> its =
        sessions.values().stream().filter(session -> session.isOf(change.agentId())).toList();
    if (its.isEmpty()) {
      return;
    }
    Agent agent =
        QuarkusTransaction.requiringNew().call(() -> Agent.<Agent>findById(change.agentId()));
    for (ExecutorSession session : its) {
      session.settings(isOnce(agent), seconds(agent.keepWarmSeconds));
      if (session.target().agentRevision() != change.revision()) {
        session.becomesStale();
      }
    }
  }

  private static boolean isOnce(Agent agent) {
    return agent.isolation.equals("pod");
  }

  private Optional<ExecutorSession> read(String executorId, Integer polls) {
    Executor executor = Executor.findById(executorId);
    if (executor == null
        || executor.state == ExecutorState.STOPPING
        || executor.state == ExecutorState.ENDED) {
      return Optional.empty();
    }
    Executor.ready(executorId, clock.instant());
    if (executor.isInPool()) {
      return Optional.of(ExecutorSession.inPool(executorId));
    }
    Agent agent = Agent.findById(executor.agentId);
    History history = history(executorId);
    ExecutorSession session =
        new ExecutorSession(
            executorId,
            new RevisionKey(executor.agentId, executor.agentRevision),
            executor.requestsPerProcess,
            isOnce(agent),
            seconds(agent.keepWarmSeconds),
            history.served(),
            seconds(Math.max(0, history.idleSeconds())));
    if (agent.deletedAt != null || agent.revisionToRun() != executor.agentRevision) {
      session.becomesStale();
    }
    session.continuesWith(polls);
    // Work from another replica, or from this one before its restart, may not have arrived.
    session.has(history.running());
    return Optional.of(session);
  }

  private History history(String executorId) {
    return HISTORY
        .with("id", executorId)
        .first(
            entities,
            row ->
                new History(
                    words(row.getString("running")),
                    row.getBoolean("served"),
                    row.getDouble("idle")))
        .orElseThrow();
  }

  /** Renews the lease at intervals; empty when the database was not queried this time. */
  private Optional<Lease> renew(String executorId) {
    long now = System.nanoTime();
    Long before = renewedAt.get(executorId);
    if (before != null && now - before <= RENEW_EVERY.toNanos()) {
      return Optional.empty();
    }
    if (before == null && renewedAt.size() > MANY) {
      // Removes executors whose frames arrived here, but not their end.
      renewedAt.values().removeIf(time -> now - time > lease.toNanos());
    }
    renewedAt.put(executorId, now);
    Lease renewed =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    RENEW
                        .with("seconds", (double) lease.toSeconds())
                        .with("id", executorId)
                        .first(
                            entities,
                            row ->
                                new Lease(row.getBoolean("stays"), words(row.getString("running"))))
                        .orElse(new Lease(false, List.of())));
    return Optional.of(renewed);
  }

  private static List<String> words(String text) {
    return text == null ? List.of() : List.of(text.split(" "));
  }

  private static Duration seconds(double seconds) {
    return Duration.ofNanos((long) (seconds * 1e9));
  }
}
