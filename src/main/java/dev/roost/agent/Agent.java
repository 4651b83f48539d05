package dev.roost.agent;

import dev.roost.api.Page;
import dev.roost.api.Problem;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import io.quarkus.panache.common.Parameters;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import java.time.Instant;
import java.util.Optional;

/** A script and its settings. What runs is in its revisions; a deleted agent's row stays for its history. */
@Entity(name = "agent")
public class Agent extends PanacheEntityBase {
  @Id public String id;
  public String name;
  public int revision;
  public double timeoutSeconds;
  public int memoryMib;
  public double cpu;

  @Column(name = "max_concurrency")
  public int maxConcurrency;

  public int maxAttempts;
  public double retryDelaySeconds;
  public double keepWarmSeconds;

  /** "process" or "pod". */
  public String isolation;

  public Instant createdAt;
  public Instant updatedAt;
  public Instant deletedAt;

  /**
   * @throws Problem not_found, also for a deleted agent
   */
  public static Agent require(String id) {
    return Agent.<Agent>find("id = ?1 and deletedAt is null", id)
        .firstResultOptional()
        .orElseThrow(() -> Problem.notFound("agent", id));
  }

  /** The same, locked until the transaction ends. */
  static Agent lock(String id) {
    return Agent.<Agent>find("id = ?1 and deletedAt is null", id)
        .withLock(LockModeType.PESSIMISTIC_WRITE)
        .firstResultOptional()
        .orElseThrow(() -> Problem.notFound("agent", id));
  }

  static Optional<Agent> named(String name) {
    return find("name = ?1 and deletedAt is null", name).firstResultOptional();
  }

  /**
   * @param name exact, or null
   * @param contained in the name, whatever its case, or null
   */
  static java.util.List<Agent> rows(String name, String contained, String cursor, int limit) {
    return Agent.<Agent>find(
            """
            from agent where deletedAt is null and (:cursor is null or id < :cursor)
              and (:name is null or name = :name)
              and (:contained is null or locate(lower(:contained), lower(name)) > 0)
            order by id desc""",
            Parameters.with("cursor", cursor).and("name", name).and("contained", contained))
        .range(0, limit)
        .list();
  }
}
