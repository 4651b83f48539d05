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

  /** From 1 to the agent's max_concurrency, its own as long as it lives; see {@link #make}. */
  public Integer slot;

  /** Its agent's when it was started; null: of an earlier version. */
  public Integer memoryMib;

  public Double cpu;

  /** It gets no more work, so that an executor of another agent finds room. */
  public boolean yields;

  public String state;
  public String message;

  /** While it is to start: the runtime has none for it now. */
  public boolean lacksCapacity;

  /** Since when it has lacked none, if it ever has; see {@link #pendingSince()}. */
  @Column(name = "pending_since")
  public Instant hadCapacityAt;

  /** Until then it is taken for alive: the database's clock, moved on by polls and frames. */
  public Instant leaseExpiresAt;

  public Instant createdAt;
  public Instant readyAt;
  public Instant endedAt;

  /**
   * Whether an executor {@code x} is one that would be started now for its agent {@code a}, its
   * revision {@code r} and that one's BuilderJob {@code b}: what it was started with it has for
   * life. What changes with each execution, such as the time-out, is none of that. Variables,
   * Python version, profile and egress are the revision's.
   */
  static final String FITS =
      """
      (coalesce(x.memory_mib, a.memory_mib) = a.memory_mib and coalesce(x.cpu, a.cpu) = a.cpu
        and coalesce(b.build_id, x.build_id) = x.build_id
        and (a.isolation <> 'pod' or not exists (select 1 from execution e where e.executor_id = x.id)))""";

  /** What {@link #FITS} names besides {@code executor x}. */
  static final String SETTINGS_OF =
      """

      join agent a on a.id = x.agent_id
      join agent_revision r on r.agent_id = x.agent_id and r.revision = x.agent_revision
      join builder_job b on b.id = r.builder_job_id""";

  /** The lowest that neither an executor has nor an Execution whose executor has ended. */
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
   * An executor that is to be started, unless the agent has as many as its max_concurrency allows.
   * A slot belongs to one executor at a time (the index {@code executor_slot}), an executor runs
   * one Execution at a time, and only those up to max_concurrency get work: so there are never
   * more.
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

  /** Those that have ended while an Execution of theirs, says the database, still runs. */
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

  /** From when on it counts how long it waits for its image, for example. */
  Instant pendingSince() {
    return hadCapacityAt == null ? createdAt : hadCapacityAt;
  }

  /**
   * Says what an executor waits for that is being started; null: for nothing known.
   *
   * @param lacksCapacity whether the runtime has none for it
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
   * Another in the place of one that the runtime has no capacity for, to be started anew. The
   * objects of the one before may go slowly, so they are not made again under their names.
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

  /** Ends one that lacks capacity; answers false when it doesn't. */
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

  /** Of one that has nothing to do. */
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
