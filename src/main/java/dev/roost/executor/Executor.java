package dev.roost.executor;

import dev.roost.api.Ids;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

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
  public String state;
  public String message;

  /** Until then it is taken for alive: the database's clock, moved on by polls and frames. */
  public Instant leaseExpiresAt;

  public Instant createdAt;
  public Instant readyAt;
  public Instant endedAt;

  static Executor make(
      String agentId, int agentRevision, String buildId, Instant now, Duration lease) {
    Executor executor = new Executor();
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
            "state = 'ready', readyAt = ?1, message = null where id = ?2 and state = 'starting'",
            now,
            id)
        == 1;
  }

  /** Says what an executor waits for that is being started; null: for nothing known. */
  static void explain(String id, String message) {
    update("message = ?1 where id = ?2 and state = 'starting'", message, id);
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
