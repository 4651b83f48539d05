package dev.roost.executor;

import dev.roost.api.Sql;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.persistence.EntityManager;

/** Makes room for executors that are needed, by stopping those that have been idle longest. */
@ApplicationScoped
class Room {
  private static final Sql LEAVING =
      Sql.of(
          """
          select count(*) as leaving from executor
          where state = 'stopping' and lease_expires_at > now()
            and (cast(:agent as text) is null or agent_id = :agent)""");

  /** The lock waits for nobody: an executor that is just getting work is not idle. */
  private static final Sql IDLE_LONGEST =
      Sql.of(
          """
          select x.id from executor x
          where x.state = 'ready' and (cast(:agent as text) is null or x.agent_id = :agent)
            and (x.agent_id, x.agent_revision) <> (:exceptAgent, :exceptRevision)
            and not exists (select 1 from execution e where e.executor_id = x.id and e.state = 'running')
          order by coalesce(
            (select max(e.finished_at) from execution e where e.executor_id = x.id), x.ready_at)
          limit 1 for update of x skip locked""");

  /**
   * Looks again, under the lock: whoever claimed a job for it had the row locked until then, so it
   * shows now.
   */
  private static final Sql STOP =
      Sql.of(
          """
          update executor x set state = 'stopping'
          where x.id = :id and x.state = 'ready'
            and not exists (select 1 from execution e where e.executor_id = x.id and e.state = 'running')""");

  private final EntityManager entities;
  private final Event<ExecutorStopped> stopped;

  Room(EntityManager entities, Event<ExecutorStopped> stopped) {
    this.entities = entities;
    this.stopped = stopped;
  }

  /**
   * Sees to it that so many executors leave, those included that are leaving already.
   *
   * @param agentId only of this agent, or null
   * @param except not of this target
   */
  void make(String agentId, Target except, int wanted) {
    int leaving = QuarkusTransaction.requiringNew().call(() -> leaving(agentId));
    for (; leaving < wanted; leaving++) {
      String executorId = QuarkusTransaction.requiringNew().call(() -> stopOne(agentId, except));
      if (executorId == null) {
        return;
      }
      // Wherever it polls, it is told so.
      stopped.fire(new ExecutorStopped(executorId));
    }
  }

  private int leaving(String agentId) {
    return LEAVING
        .with("agent", agentId)
        .first(entities, row -> row.getInt("leaving"))
        .orElseThrow();
  }

  private String stopOne(String agentId, Target except) {
    return IDLE_LONGEST
        .with("agent", agentId)
        .with("exceptAgent", except.agentId())
        .with("exceptRevision", except.agentRevision())
        .first(entities, row -> row.getString("id"))
        .filter(id -> STOP.with("id", id).update(entities) == 1)
        .orElse(null);
  }
}
