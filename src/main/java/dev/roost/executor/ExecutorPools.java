package dev.roost.executor;

import dev.roost.agent.Agent;
import dev.roost.config.RoostConfig;
import dev.roost.executor.PoolRepository.ColdStart;
import dev.roost.executor.PoolRepository.Members;
import dev.roost.executor.PoolRepository.Pool;
import dev.roost.runtime.Egress;
import dev.roost.runtime.Runtime;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/**
 * Keeps executors ready that have no agent yet, in pools of executors that are alike. An agent
 * without an executor of its own gets one of them, and keeps it: an executor never returns to a
 * pool.
 */
@ApplicationScoped
class ExecutorPools {
  /** The cold starts of this time decide about the sizes. */
  private static final Duration WINDOW = Duration.ofHours(1);

  /** The sizes follow the cold starts; without any, they change only as those get old. */
  private static final Duration CHECK_EVERY = Duration.ofSeconds(10);

  /**
   * From a cold start until pools are filled. The start of another executor at the same time would
   * slow down that cold start, above all on a small node.
   */
  private static final Duration FILL_AFTER = Duration.ofSeconds(1);

  /** While executors of a pool can't be started. */
  private static final Duration PAUSE = Duration.ofMinutes(1);

  /** Until it is known how long executors take to start. */
  private static final Duration USUAL_STARTUP = Duration.ofSeconds(5);

  private static final Duration LONGEST_STARTUP = Duration.ofMinutes(1);

  private final Runtime runtime;
  private final PoolRepository repository;
  private final int budget;
  private final Duration lease;
  private final Event<ExecutorAssigned> assigned;
  private final Event<ExecutorStopped> stopped;
  private final Clock clock;

  /** Accessed only by the reconciler's thread. */
  private final Map<PoolKey, Instant> pausedUntil = new HashMap<>();

  /** Accessed only by the reconciler's thread. */
  private final Set<String> shown = new HashSet<>();

  private final AtomicReference<Instant> checkAt = new AtomicReference<>(Instant.MIN);

  ExecutorPools(
      Runtime runtime,
      PoolRepository repository,
      RoostConfig config,
      Event<ExecutorAssigned> assigned,
      Event<ExecutorStopped> stopped,
      Clock clock) {
    this.runtime = runtime;
    this.repository = repository;
    this.budget = config.executors().pool();
    this.lease = config.executors().lease();
    this.assigned = assigned;
    this.stopped = stopped;
    this.clock = clock;
  }

  /**
   * Gives executors of pools to that target, as far as its jobs need them; they get the jobs.
   *
   * @return how many
   */
  int assign(RevisionKey target, int most) {
    List<String> executors = budget == 0 ? List.of() : repository.assign(target, most);
    executors.forEach(id -> assigned.fire(new ExecutorAssigned(id)));
    return executors.size();
  }

  void replace(@Observes ExecutorAssigned event) {
    checkSoon();
  }

  /** There was a cold start, or a pool has fewer executors. */
  void checkSoon() {
    Instant due = clock.instant().plus(FILL_AFTER);
    checkAt.updateAndGet(time -> time.isBefore(due) ? time : due);
  }

  /** Shows in the runtime's tools which agents have got executors that were started for a pool. */
  void showAgents(List<Executor> live) {
    Set<String> known = new HashSet<>();
    for (Executor executor : live) {
      if (!executor.pooled || executor.isInPool()) {
        continue;
      }
      known.add(executor.id);
      if (shown.add(executor.id)) {
        Agent agent =
            QuarkusTransaction.requiringNew().call(() -> Agent.findById(executor.agentId));
        Map<String, String> labels = ExecutorStarter.labels(agent.name, executor, null);
        labels.put("pool", executor.buildId);
        runtime.showAgent(executor.id, labels);
      }
    }
    shown.retainAll(known);
  }

  /** Stops up to {@code most} executors, since others need their capacity. */
  void giveWay(int most) {
    if (most > 0) {
      stop(null, most);
    }
  }

  private void stop(PoolKey key, int most) {
    repository.stop(key, most).forEach(id -> stopped.fire(new ExecutorStopped(id)));
  }

  /** An executor of that pool could not be started. */
  void failedToStart(PoolKey key) {
    pausedUntil.put(key, clock.instant().plus(PAUSE));
  }

  /**
   * Starts and stops executors, so that each pool has its size.
   *
   * @param free how many more executors the runtime may have
   * @param now by the database's clock, like leases
   * @param start starts an executor that has a row; returns false when it can't be started
   */
  void fill(int free, Instant now, Predicate<Executor> start) {
    Instant time = clock.instant();
    if (time.isBefore(checkAt.get())) {
      return;
    }
    checkAt.set(time.plus(CHECK_EVERY));
    pausedUntil.values().removeIf(until -> !until.isAfter(time));
    List<ColdStart> starts = budget == 0 ? List.of() : repository.coldStarts(WINDOW);
    Map<PoolKey, Integer> sizes =
        PoolSizes.of(
            starts.stream()
                .map(one -> new PoolSizes.ColdStart(one.pool().key(), one.at()))
                .toList(),
            refill(starts),
            budget);
    Map<PoolKey, Integer> missing = new HashMap<>(sizes);
    for (Members members : repository.members()) {
      int size = sizes.getOrDefault(members.pool(), 0);
      if (members.count() > size) {
        stop(members.pool(), members.count() - size);
      }
      missing.put(members.pool(), size - members.count());
    }
    Map<PoolKey, Pool> pools = new HashMap<>();
    starts.forEach(one -> pools.putIfAbsent(one.pool().key(), one.pool()));
    int left = free;
    for (PoolKey key : sizes.keySet()) {
      for (int i = 0; i < missing.get(key) && left > 0 && canStart(pools.get(key)); i++, left--) {
        if (!start.test(make(key, now))) {
          return;
        }
      }
    }
  }

  private static Duration refill(List<ColdStart> starts) {
    return starts.stream()
        .map(ColdStart::startup)
        .filter(Objects::nonNull)
        .max(Duration::compareTo)
        .map(longest -> longest.compareTo(LONGEST_STARTUP) < 0 ? longest : LONGEST_STARTUP)
        .orElse(USUAL_STARTUP)
        .plus(FILL_AFTER);
  }

  private boolean canStart(Pool pool) {
    return !pausedUntil.containsKey(pool.key())
        && runtime.refusal(pool.key().profile(), Egress.parse(pool.key().egress())).isEmpty()
        && runtime.hasBuild(pool.imageKey());
  }

  private Executor make(PoolKey key, Instant now) {
    return QuarkusTransaction.requiringNew().call(() -> Executor.make(key, now, lease));
  }
}
