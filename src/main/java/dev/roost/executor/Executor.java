package dev.roost.executor;

import dev.roost.api.Ids;
import dev.roost.db.Sql;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A process (or pod) in which executions of one agent revision run. States: starting, ready,
 * stopping, ended.
 */
@Entity(name = "executor")
public class Executor extends PanacheEntityBase {
  @Id public String id;
  public String agentId;
  public int agentRevision;
  public String buildId;

  /**
   * From 1 to the agent's max_concurrency; fixed for the executor's lifetime, see {@link #make}.
   */
  public Integer slot;

  /** The agent's value when the executor was started; null for executors of an earlier version. */
  public Integer memoryMib;

  public Double cpu;

  /** Whether the executor gets no more work, to free its capacity for another agent. */
  public boolean yields;

  public String state;
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
   * Whether an executor {@code x} still fits its agent {@code a}, its revision {@code r} and that
   * revision's BuilderJob {@code b}, so that an executor started now would be the same. An executor
   * keeps the settings that it was started with. Settings that apply to each execution, such as the
   * timeout, are not compared. Variables, Python version, profile and egress belong to the
   * revision.
   */
  static final String FITS =
      """
      (coalesce(x.memory_mib, a.memory_mib) = a.memory_mib and coalesce(x.cpu, a.cpu) = a.cpu
        and coalesce(b.build_id, x.build_id) = x.build_id
        and (a.isolation <> 'pod' or not exists (select 1 from execution e where e.executor_id = x.id)))""";

  /** The joins that {@link #FITS} needs besides {@code executor x}. */
  static final String SETTINGS_OF =
      """

      join agent a on a.id = x.agent_id
      join agent_revision r on r.agent_id = x.agent_id and r.revision = x.agent_revision
      join builder_job b on b.id = r.builder_job_id""";

  /**
   * The lowest slot that belongs neither to a live executor nor to a running Execution of an ended
   * executor.
   */
  private static final Sql FREE_SLOT =
      Sql.of(
          """
          select s.slot, a.memory_mib, a.cpu from agent a cross join generate_series(1, a.max_concurrency) s (slot)
          where a.id = :agent
            and not exists (
              select 1 from executor x where x.agent_id = a.id and x.slot = s.slot and x.state <> 'ended')
            and not exists (
              select 1 from execution e where e.agent_id = a.id and e.slot = s.slot and e.state = 'running')
          order by s.slot limit 1""");

  /**
   * Creates an executor to be started, unless the agent has max_concurrency executors already. A
   * slot belongs to one executor at a time (the index {@code executor_slot}), an executor runs one
   * Execution at a time, and only slots up to max_concurrency get work: so the limit always holds.
   */
  static Optional<Executor> make(
      String agentId, int agentRevision, String buildId, Instant now, Duration lease) {
    return FREE_SLOT
        .with("agent", agentId)
        .first(
            getEntityManager(),
            row -> new Place(row.getInt("slot"), row.getInt("memory_mib"), row.getDouble("cpu")))
        .map(place -> make(agentId, agentRevision, buildId, place, now, lease));
  }

  private record Place(int slot, Integer memoryMib, Double cpu) {}

  private static Executor make(
      String agentId, int agentRevision, String buildId, Place place, Instant now, Duration lease) {
    Executor executor = new Executor();
    executor.slot = place.slot();
    executor.memoryMib = place.memoryMib();
    executor.cpu = place.cpu();
    executor.id = Ids.next("executor");
    executor.agentId = agentId;
    executor.agentRevision = agentRevision;
    executor.buildId = buildId;
    executor.state = "starting";
    executor.leaseExpiresAt = now.plus(lease);
    executor.createdAt = now;
    executor.persist();
    return executor;
  }

  static List<Executor> live() {
    return list("state <> 'ended' order by id");
  }

  /** Ended executors with an Execution that is still running according to the database. */
  static List<Executor> endedWithExecution() {
    return list(
        "state = 'ended' and id in (select e.executorId from execution e where e.state = 'running')");
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
    if (!withdraw(id, "Another was started in its place.", now)) {
      return Optional.empty();
    }
    Place place = new Place(before.slot, before.memoryMib, before.cpu);
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
