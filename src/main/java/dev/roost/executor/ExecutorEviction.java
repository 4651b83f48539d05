package dev.roost.executor;

import dev.roost.db.Sql;
import dev.roost.execution.Claimable;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.persistence.EntityManager;

/**
 * Frees capacity for executors that are needed, by stopping those of pools, then those that have
 * been idle longest.
 */
@ApplicationScoped
class ExecutorEviction {
  private static final Sql LEAVING =
      Sql.of(
          """
          select count(*) as leaving from executor
          where (state = 'stopping' or (yields and state = 'ready')) and lease_expires_at > now()
            and (cast(:agent as text) is null or agent_id = :agent)""");

  /** Skips locked rows: an executor that is just getting work is not idle. */
  private static final Sql IDLE_LONGEST =
      Sql.of(
          """
          select x.id from executor x
          left join agent_revision r on r.agent_id = x.agent_id and r.revision = x.agent_revision
          where (x.state = 'ready' or (x.state = 'starting' and x.agent_id is null))
            and (cast(:agent as text) is null or x.agent_id = :agent)
            and (x.agent_id, x.agent_revision) is distinct from (:exceptAgent, :exceptRevision)
            and (cast(:profiles as text[]) is null
              or coalesce(r.profile, x.profile, '') = any (cast(:profiles as text[])))
            and not exists (select 1 from execution e where e.executor_id = x.id and e.state = 'running')
          order by x.agent_id is not null, coalesce(
            (select max(e.finished_at) from execution e where e.executor_id = x.id), x.ready_at)
          limit 1 for update of x skip locked""");

  /**
   * Checks again under the lock: a claim for this executor held the row's lock until its commit, so
   * the Execution is visible now.
   */
  private static final Sql STOP =
      Sql.of(
          """
          update executor x set state = 'stopping'
          where x.id = :id and (x.state = 'ready' or (x.state = 'starting' and x.agent_id is null))
            and not exists (select 1 from execution e where e.executor_id = x.id and e.state = 'running')""");

  /** Ready executors first: stopping a starting one would waste its start. */
  private static final Sql YIELD =
      Sql.of(
          """
          update executor set yields = true where id in (
            select x.id from executor x
            where x.agent_id = :agent and x.state in ('starting', 'ready') and not x.yields
            order by x.state, x.id limit :most for update skip locked)""");

  private static final Sql STOP_SURPLUS =
      Sql.of(
          """
          update executor set state = 'stopping' where id in (
            select x.id from executor x """
              + Claimable.SETTINGS_OF
              + """

            where x.state in ('starting', 'ready') and not exists (
                select 1 from execution e where e.executor_id = x.id and e.state = 'running')
              and (x.yields or x.slot > a.max_concurrency or not """
              + Claimable.FITS
              + """
              )
            for update of x skip locked)
          returning id""");

  private final EntityManager entities;
  private final Event<ExecutorStopped> stopped;

  ExecutorEviction(EntityManager entities, Event<ExecutorStopped> stopped) {
    this.entities = entities;
    this.stopped = stopped;
  }

  /**
   * Makes executors leave until {@code wanted} are leaving, including those that are leaving
   * already.
   *
   * @param agentId only executors of this agent; null: of any agent
   * @param except not executors of this target
   * @return how many are leaving: may be more or fewer than required
   */
  int freeCapacity(String agentId, RevisionKey except, int required) {
    return freeCapacity(agentId, except, null, required);
  }

  /**
   * @param profiles only executors with one of these profiles, "" for none; null: all
   */
  int freeCapacity(String agentId, RevisionKey except, String[] profiles, int required) {
    int leaving = QuarkusTransaction.requiringNew().call(() -> leaving(agentId));
    for (; leaving < required; leaving++) {
      String executorId =
          QuarkusTransaction.requiringNew().call(() -> stopOne(agentId, except, profiles));
      if (executorId == null) {
        return leaving;
      }
      // Notifies the replica that the executor polls.
      stopped.fire(new ExecutorStopped(executorId));
    }
    return leaving;
  }

  /** Makes up to {@code most} executors of an agent leave after their current executions. */
  void yield(String agentId, int most) {
    QuarkusTransaction.requiringNew()
        .run(() -> YIELD.with("agent", agentId).with("most", most).update(entities));
  }

  /**
   * Stops executors that have no work and get none: those that were to leave after their work,
   * exceed the agent's current max_concurrency, or were started with other settings than the agent
   * has now.
   */
  void stopSurplus() {
    QuarkusTransaction.requiringNew()
        .call(() -> STOP_SURPLUS.with().list(entities, row -> row.getString("id")))
        .forEach(id -> stopped.fire(new ExecutorStopped(id)));
  }

  private int leaving(String agentId) {
    return LEAVING
        .with("agent", agentId)
        .first(entities, row -> row.getInt("leaving"))
        .orElseThrow();
  }

  private String stopOne(String agentId, RevisionKey except, String[] profiles) {
    return IDLE_LONGEST
        .with("agent", agentId)
        .with("exceptAgent", except.agentId())
        .with("exceptRevision", except.agentRevision())
        .with("profiles", profiles)
        .first(entities, row -> row.getString("id"))
        .filter(id -> STOP.with("id", id).update(entities) == 1)
        .orElse(null);
  }
}
