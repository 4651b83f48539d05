package dev.roost.executor;

import dev.roost.config.RoostConfig;
import dev.roost.db.Sql;
import dev.roost.runtime.Capacity;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import dev.roost.runtime.Shortage;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jboss.logging.Logger;

/**
 * Handles executors and builds that the runtime has no capacity for: tries them again when there
 * may be capacity, and makes executors of others leave for them, idle ones first.
 */
@ApplicationScoped
class Preemption {
  private static final Logger LOG = Logger.getLogger(Preemption.class);

  /**
   * If this many executors that need no more than another one lack capacity, that one would, too.
   */
  private static final int ENOUGH_TRIES = 4;

  private static final RevisionKey NOBODY = new RevisionKey("", 0);

  private static final Sql LIVE =
      Sql.of(
          """
          select x.id, x.agent_id, x.agent_revision, coalesce(r.profile, x.profile) as profile,
            coalesce(a.memory_mib, x.memory_mib) as memory_mib, coalesce(a.cpu, x.cpu) as cpu,
            x.lacks_capacity and x.state = 'starting' as lacks,
            x.state = 'stopping' or x.yields as leaves
          from executor x left join agent a on a.id = x.agent_id
          left join agent_revision r on r.agent_id = x.agent_id and r.revision = x.agent_revision
          where x.state <> 'ended' order by x.id""");

  private final Runtime runtime;
  private final RoostConfig config;
  private final Capacity capacity;
  private final ExecutorEviction eviction;
  private final EntityManager entities;
  private final Clock clock;

  Preemption(
      Runtime runtime,
      RoostConfig config,
      Capacity capacity,
      ExecutorEviction eviction,
      EntityManager entities,
      Clock clock) {
    this.runtime = runtime;
    this.config = config;
    this.capacity = capacity;
    this.eviction = eviction;
    this.entities = entities;
    this.clock = clock;
  }

  /**
   * An executor that has not ended.
   *
   * @param target its agent is null while the executor is in a pool
   * @param lacks whether the runtime has no capacity for it
   * @param leaves whether it gets no more work
   */
  record Live(
      String id,
      RevisionKey target,
      String profile,
      int memoryMib,
      double cpu,
      boolean lacks,
      boolean leaves) {}

  /**
   * An executor that lacks capacity.
   *
   * @param shortage null while the shortage of its latest try isn't known yet
   */
  record Lacking(Live executor, Shortage shortage) {
    /** Whether another executor would lack capacity as well, judging by this one. */
    private boolean speaksFor(Demand.Waiting group) {
      return (shortage != null && shortage.isOfAnySize())
          || (Objects.equals(executor.profile(), group.profile())
              && executor.memoryMib() <= group.memoryMib()
              && executor.cpu() <= group.cpu());
    }
  }

  /**
   * Whether to start no executor for a group now, since others wait for the same capacity. Pure.
   */
  static boolean isFutile(Demand.Waiting group, List<Lacking> lacking) {
    return lacking.stream().anyMatch(one -> one.executor().target().equals(group.target()))
        || lacking.stream().filter(one -> one.speaksFor(group)).count() >= ENOUGH_TRIES;
  }

  /** The latest executors that no job waits for any more. Pure. */
  static List<Lacking> surplus(List<Lacking> lacking, List<Demand.Waiting> waiting) {
    Map<RevisionKey, Integer> needed = new HashMap<>();
    Map<RevisionKey, Integer> counts = new HashMap<>();
    lacking.forEach(one -> counts.merge(one.executor().target(), 1, Integer::sum));
    for (Demand.Waiting group : waiting) {
      int coming = group.starting() - counts.getOrDefault(group.target(), 0);
      needed.put(group.target(), group.missing(coming));
    }
    List<Lacking> surplus = new ArrayList<>();
    for (Lacking one : lacking) {
      if (needed.merge(one.executor().target(), -1, Integer::sum) < 0) {
        surplus.add(one);
      }
    }
    return surplus;
  }

  /**
   * @param waiting the jobs for which executors are needed
   * @param start starts an executor that has a row
   * @return the executors that lack capacity
   */
  List<Lacking> serve(List<Demand.Waiting> waiting, Consumer<Executor> start) {
    if (waiting.isEmpty() && capacity.refused().isEmpty()) {
      return List.of();
    }
    List<Live> live = QuarkusTransaction.requiringNew().call(this::read);
    Map<String, Shortage> shortages = new HashMap<>();
    capacity.refused().forEach(one -> shortages.put(one.id(), one.shortage()));
    List<Lacking> lacking =
        live.stream()
            .filter(Live::lacks)
            .map(one -> new Lacking(one, shortages.get(one.id())))
            .toList();
    surplus(lacking, waiting).forEach(one -> withdraw(one.executor().id()));
    Instant now = clock.instant();
    for (Capacity.Refused one : capacity.refused()) {
      if (one.id().startsWith("executor_") && capacity.isTriedAgain(one.id(), now)) {
        again(one.id(), start);
      }
    }
    freeCapacity(live, now);
    return lacking;
  }

  private List<Live> read() {
    return LIVE.with()
        .list(
            entities,
            row ->
                new Live(
                    row.getString("id"),
                    new RevisionKey(row.getString("agent_id"), row.getInt("agent_revision")),
                    row.getString("profile"),
                    row.getInt("memory_mib"),
                    row.getDouble("cpu"),
                    row.getBoolean("lacks"),
                    row.getBoolean("leaves")));
  }

  private void withdraw(String executorId) {
    String message = "No job needs it any more.";
    boolean withdrawn =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.withdraw(executorId, message, clock.instant()));
    capacity.forget(executorId);
    if (withdrawn) {
      remove(executorId);
    }
  }

  private void again(String executorId, Consumer<Executor> start) {
    Optional<Executor> next =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.again(executorId, clock.instant(), config.executors().lease()));
    capacity.forget(executorId);
    if (next.isPresent()) {
      remove(executorId);
      start.accept(next.get());
    }
  }

  /** If the removal fails, the reconciler's next pass removes the executor as a leftover. */
  private void remove(String executorId) {
    try {
      runtime.deleteExecutor(executorId);
    } catch (RuntimeUnavailable e) {
      LOG.debugf("executor %s cannot be removed: %s", executorId, e.getMessage());
    }
  }

  private void freeCapacity(List<Live> live, Instant now) {
    Map<String, Live> byId = new HashMap<>();
    live.forEach(one -> byId.put(one.id(), one));
    Map<String, Integer> taken = new HashMap<>();
    int required = 0;
    for (Capacity.Refused one : capacity.shortOf(now)) {
      Live executor = byId.get(one.id()); // null: a build
      List<Live> helpful =
          live.stream()
              .filter(other -> !other.lacks())
              .filter(
                  other ->
                      runtime.helps(
                          one.shortage(),
                          executor == null ? null : executor.profile(),
                          other.profile()))
              .toList();
      RevisionKey target = executor == null ? NOBODY : executor.target();
      required++;
      if (eviction.freeCapacity(null, target, profiles(helpful), required) < required) {
        take(executor == null ? one.id() : target.agentId(), executor == null, helpful, taken);
      }
    }
  }

  private static String[] profiles(List<Live> executors) {
    return executors.stream()
        .map(one -> one.profile() == null ? "" : one.profile())
        .distinct()
        .toArray(String[]::new);
  }

  /**
   * Without idle executors, an agent that has many gives one up after its work. A build, which
   * ends, takes precedence over the only executor of an agent.
   */
  private void take(String who, boolean isBuild, List<Live> helpful, Map<String, Integer> taken) {
    Map<String, Integer> held = new HashMap<>(taken);
    helpful.stream()
        .filter(one -> !one.leaves() && one.target().agentId() != null)
        .forEach(one -> held.merge(one.target().agentId(), 1, Integer::sum));
    if (isBuild) {
      held.put(who, -1);
    }
    FairShare.Plan plan = FairShare.plan(0, held, List.of(new FairShare.Need(who, 1)));
    plan.takes()
        .forEach(
            (agentId, count) -> {
              eviction.yield(agentId, count);
              taken.merge(agentId, -count, Integer::sum);
            });
  }
}
