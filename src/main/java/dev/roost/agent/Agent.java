package dev.roost.agent;

import dev.roost.api.NameSearch;
import dev.roost.api.Problem;
import dev.roost.db.Conditions;
import dev.roost.db.Sql;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * A script and its settings. The code is in the agent's revisions; the row of a deleted agent stays
 * for the history.
 */
@Entity(name = "agent")
public class Agent extends PanacheEntityBase {
  private static final Sql NAMED =
      Sql.of("select a.id from agent a where a.name = :name or a.id = :name");

  private static final Sql FOUND =
      Sql.of("select a.id from agent a where " + NameSearch.condition("a.name"));

  @Id public String id;
  public String name;

  /** The newest revision. */
  public int revision;

  /** The newest revision whose build has succeeded; null before the first successful build. */
  public Integer runningRevision;

  public double timeoutSeconds;
  public int memoryMib;
  public double cpu;

  @Column(name = "max_concurrency")
  public int maxConcurrency;

  /** How long its jobs have their concurrency keys. */
  @Enumerated(EnumType.STRING)
  public KeyScope concurrencyKeyScope;

  public int maxAttempts;
  public double retryDelaySeconds;

  /** Codes of reasons that exclude another attempt. */
  public String[] neverRetry;

  public double keepWarmSeconds;

  /** "process" or "pod". */
  public String isolation;

  /** How many executions run in one process at the same time; 1: each has its own. */
  public int requestsPerProcess;

  /** Under which language models are offered the agent as a tool; null: it isn't one. */
  public String toolName;

  /** What the tool does, for the model that chooses among tools; null: not described. */
  public String toolDescription;

  public Instant createdAt;
  public Instant updatedAt;
  public Instant deletedAt;

  /**
   * The revision that a job submitted now runs; before the first successful build, the newest
   * revision.
   */
  public int revisionToRun() {
    return runningRevision == null ? revision : runningRevision;
  }

  /** The value for ETag and If-Match, without quotation marks; differs after each change. */
  String tag() {
    return entityTag(revision, updatedAt);
  }

  static String entityTag(int revision, Instant updatedAt) {
    return revision + "-" + ChronoUnit.MICROS.between(Instant.EPOCH, updatedAt);
  }

  /**
   * Records a change. Two changes in the same microsecond still get different times, and so
   * different tags.
   */
  void touch(Instant now) {
    Instant next = updatedAt.plus(1, ChronoUnit.MICROS);
    updatedAt = now.isBefore(next) ? next : now;
  }

  /**
   * @throws Problem not_found, also for a deleted agent
   */
  public static Agent require(String id) {
    return Agent.<Agent>find("id = ?1 and deletedAt is null", id)
        .firstResultOptional()
        .orElseThrow(() -> Problem.notFound("agent", id));
  }

  /**
   * Like {@link #require}, and locks the row until the transaction ends.
   *
   * @throws Problem not_found
   */
  public static Agent lock(String id) {
    return lockIfThere(id).orElseThrow(() -> Problem.notFound("agent", id));
  }

  /** Like {@link #lock}; empty for a deleted agent. */
  public static Optional<Agent> lockIfThere(String id) {
    return Agent.<Agent>find("id = ?1 and deletedAt is null", id)
        .withLock(LockModeType.PESSIMISTIC_WRITE)
        .firstResultOptional();
  }

  static Optional<Agent> named(String name) {
    return find("name = ?1 and deletedAt is null", name).firstResultOptional();
  }

  /** The agent with exactly this tool name. */
  static Optional<Agent> tool(String toolName) {
    return find("toolName = ?1 and toolName is not null and deletedAt is null", toolName)
        .firstResultOptional();
  }

  /**
   * The identifiers of the agents that a filter means, including deleted agents: the agent with
   * that identifier or name or, if there is none, those that {@link NameSearch} finds; of these,
   * the agents with the tags.
   *
   * @param given the query parameter, or null
   * @param tag the query parameter {@code tag}, or null
   * @return null: no filter
   * @throws Problem validation_failed
   */
  public static List<String> meant(String parameter, String given, String tag) {
    List<String> named = meant(parameter, given);
    List<String> tags = AgentTags.filter(tag);
    if (tags.isEmpty()) {
      return named;
    }
    Conditions conditions =
        AgentTags.having(new Conditions(), "a.id", tags)
            .and(
                "a.id = any(:named)", "named", named == null ? null : named.toArray(String[]::new));
    return conditions
        .bind("select a.id from agent a where " + conditions.text())
        .strings(getEntityManager());
  }

  private static List<String> meant(String parameter, String given) {
    String[] words = NameSearch.words(parameter, given);
    if (words == null) {
      return null;
    }
    List<String> named = NAMED.with("name", given).strings(getEntityManager());
    return named.isEmpty() ? FOUND.with("words", words).strings(getEntityManager()) : named;
  }
}
