package dev.roost.executor;

import dev.roost.api.Ids;
import dev.roost.db.Sql;
import dev.roost.state.ExecutorState;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A process (or pod) in which executions of one agent revision run. An executor of a pool has no
 * agent yet; once it has one, it keeps it.
 */
@Entity(name = "executor")
public class Executor extends PanacheEntityBase {
  @Id public String id;

  /** Null: the executor is in a pool. */
  public String agentId;

  /** 0 while the executor is in a pool. */
  public int agentRevision;

  public String buildId;

  /** The agent's value when the executor got its agent; 1 in a pool. */
  public int requestsPerProcess = 1;

  /**
   * From 1 to the agent's max_concurrency; fixed once the executor has an agent, see {@link #make}.
   */
  public Integer slot;

  /** The agent's value when the executor was started; null for executors of an earlier version. */
  public Integer memoryMib;

  public Double cpu;

  /** Whether the executor was started for a pool. */
  public boolean pooled;

  /** Of executors that were started for a pool: the profile, null for the default. */
  public String profile;

  /** Of executors that were started for a pool, in the form of {@code AgentRevision.egress}. */
  public String egress;

  /** When the executor got its agent; null in a pool. */
  public Instant assignedAt;

  /** Whether the executor gets no more work, to free its capacity for another agent. */
  public boolean yields;

  @Enumerated(EnumType.STRING)
  public ExecutorState state;

  public String message;

  /** Whether the runtime has no capacity for the executor now; only while it is starting. */
  public boolean lacksCapacity;

  /** When its latest lack of capacity ended, or null; see {@link #pendingSince()}. */
  @Column(name = "pending_since")
  public Instant hadCapacityAt;

  /**
   * The executor counts as alive until then (database clock). Polls and frames extend the lease.
   */
  public Instant leaseExpiresAt;

  public Instant createdAt;
  public Instant readyAt;
  public Instant endedAt;

  /**
   * Serializes those that give slots of an agent; the transaction's next statement sees what the
   * one before it has committed.
   */
  private static final Sql LOCK_SLOTS =
      Sql.of("select id from agent where id = :agent for no key update");

  /**
   * The lowest slot that belongs neither to a live executor nor to a running Execution of an ended
   * executor.
   */
  private static final Sql FREE_SLOT =
      Sql.of(
          """
          select s.slot, a.memory_mib, a.cpu, a.requests_per_process from agent a cross join generate_series(1, a.max_concurrency) s (slot)
          where a.id = :agent
            and not exists (
              select 1 from executor x where x.agent_id = a.id and x.slot = s.slot and x.state <> 'ended')
            and (a.requests_per_process > 1 or not exists (
              select 1 from execution e where e.agent_id = a.id and e.slot = s.slot and e.state = 'running'))
          order by s.slot limit 1""");

  /**
   * Creates an executor to be started, unless the agent has max_concurrency executors already. A
   * slot belongs to one executor at a time (the index {@code executor_slot}), an executor runs one
   * Execution at a time, and only slots up to max_concurrency get work: so the limit always holds.
   * With several requests per process, the claim gives each Execution a slot, and those of
   * executors only limit how many there are.
   */
  static Optional<Executor> make(
      String agentId, int agentRevision, String buildId, Instant now, Duration lease) {
    lockSlots(agentId);
    return FREE_SLOT
        .with("agent", agentId)
        .first(
            getEntityManager(),
            row ->
                new Place(
                    row.getInt("slot"),
                    row.getInt("memory_mib"),
                    row.getDouble("cpu"),
                    row.getInt("requests_per_process")))
        .map(place -> make(agentId, agentRevision, buildId, place, now, lease));
  }

  static void lockSlots(String agentId) {
    LOCK_SLOTS.with("agent", agentId).strings(getEntityManager());
  }

  private record Place(int slot, Integer memoryMib, Double cpu, int requestsPerProcess) {}

  private static Executor make(
      String agentId, int agentRevision, String buildId, Place place, Instant now, Duration lease) {
    Executor executor = starting(buildId, now, lease);
    executor.slot = place.slot();
    executor.memoryMib = place.memoryMib();
    executor.cpu = place.cpu();
    executor.requestsPerProcess = place.requestsPerProcess();
    executor.agentId = agentId;
    executor.agentRevision = agentRevision;
    executor.assignedAt = now;
    executor.persist();
    return executor;
  }

  /** Creates an executor of a pool, to be started. */
  static Executor make(PoolKey pool, Instant now, Duration lease) {
    Executor executor = starting(pool.buildId(), now, lease);
    executor.pooled = true;
    executor.memoryMib = pool.memoryMib();
    executor.cpu = pool.cpu();
    executor.profile = pool.profile();
    executor.egress = pool.egress();
    executor.persist();
    return executor;
  }

  private static Executor starting(String buildId, Instant now, Duration lease) {
    Executor executor = new Executor();
    executor.id = Ids.next("executor");
    executor.buildId = buildId;
    executor.state = ExecutorState.STARTING;
    executor.leaseExpiresAt = now.plus(lease);
    executor.createdAt = now;
    return executor;
  }

  boolean isInPool() {
    return agentId == null;
  }

  /** The pool that the executor was started for. */
  PoolKey pool() {
    return new PoolKey(buildId, memoryMib, cpu, profile, egress);
  }

  static List<Executor> live() {
    return list("state <> 'ended' order by id");
  }

  /** Ended executors with an Execution that is still running according to the database. */
  static List<Executor> endedWithExecution() {
    return list(
        "state = 'ended' and id in (select e.executorId from execution e where e.state = 'running')");
  }

  /** Whether it waits for an agent, and is not to stop. */
  static boolean isInPool(String id) {
    return count("id = ?1 and agentId is null and state in ('starting', 'ready')", id) > 0;
  }

  static boolean isLive(String id) {
    return count("id = ?1 and state <> 'ended'", id) > 0;
  }

  static boolean ready(String id, Instant now) {
    return update(
            "state = 'ready', readyAt = ?1, message = null, lacksCapacity = false where id = ?2 and state = 'starting'",
            now,
            id)
        == 1;
  }

  /** The start of the pending timeout, for example while the image is being pulled. */
  Instant pendingSince() {
    return hadCapacityAt == null ? createdAt : hadCapacityAt;
  }

  /**
   * Stores what a starting executor waits for.
   *
   * @param message null when nothing is known
   * @param lacksCapacity whether the runtime has no capacity for it
   */
  void explain(String message, boolean lacksCapacity, Instant now) {
    if (this.lacksCapacity && !lacksCapacity) {
      hadCapacityAt = now;
    }
    this.message = message;
    this.lacksCapacity = lacksCapacity;
    update(
        "message = ?1, lacksCapacity = ?2, hadCapacityAt = ?3 where id = ?4 and state = 'starting'",
        message,
        lacksCapacity,
        hadCapacityAt,
        id);
  }

  /**
   * Replaces an executor that the runtime has no capacity for by a new one. The new one has its own
   * name, since the runtime may delete the old objects slowly.
   */
  static Optional<Executor> again(String id, Instant now, Duration lease) {
    Executor before = findById(id);
    if (!withdraw(id, "Another executor was started in its place.", now)) {
      return Optional.empty();
    }
    Place place = new Place(before.slot, before.memoryMib, before.cpu, before.requestsPerProcess);
    Executor next = make(before.agentId, before.agentRevision, before.buildId, place, now, lease);
    next.message = before.message;
    next.lacksCapacity = true;
    return Optional.of(next);
  }

  /** Ends a starting executor that lacks capacity; returns false when it doesn't lack capacity. */
  static boolean withdraw(String id, String message, Instant now) {
    return update(
            """
            state = 'ended', message = ?1, endedAt = ?2
            where id = ?3 and state = 'starting' and lacksCapacity = true""",
            message,
            now,
            id)
        == 1;
  }

  /** Stops an executor that runs no Execution. */
  static boolean stop(String id) {
    return update(
            """
            state = 'stopping' where id = ?1 and state in ('starting', 'ready')
            and id not in (select e.executorId from execution e where e.state = 'running')""",
            id)
        == 1;
  }

  static boolean end(String id, String message, Instant now) {
    return update(
            "state = 'ended', message = ?1, endedAt = ?2 where id = ?3 and state <> 'ended'",
            message,
            now,
            id)
        == 1;
  }
}
