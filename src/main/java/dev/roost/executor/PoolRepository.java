package dev.roost.executor;

import dev.roost.db.Sql;
import dev.roost.execution.Claimable;
import dev.roost.execution.HeldKeys;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** The statements about pools. */
@ApplicationScoped
class PoolRepository {
  /** Cold starts that decide about the sizes; the newest are enough for a 95th percentile. */
  private static final int MOST_STARTS = 1_000;

  /**
   * Gives executors of pools to an agent: as many as its due jobs need beyond the executors that it
   * has, at most as many as it has free slots. The caller has locked the agent's slots.
   */
  private static final Sql ASSIGN =
      Sql.of(
          """
          with target as (
            select a.id, a.max_concurrency, a.memory_mib, a.cpu, a.requests_per_process, r.profile, r.egress, b.build_id,
              cast(ceil((least((select count(*) filter (where j.concurrency_key is null) + count(distinct j.concurrency_key)
                from executor_job j
                where j.agent_id = a.id and j.agent_revision = r.revision and j.state = 'queued'
                  and (j.not_before is null or j.not_before <= now())
                  and """
              + HeldKeys.FREE
              + """
              ), case when a.requests_per_process > 1 then a.max_concurrency - (
                select count(*) from execution e where e.agent_id = a.id and e.state = 'running') end)
              - (select coalesce(sum(x.requests_per_process - (
                  select count(*) from execution e where e.executor_id = x.id and e.state = 'running')), 0)
                from executor x
                where x.agent_id = a.id and x.agent_revision = r.revision and x.state in ('starting', 'ready')
                  and not x.yields
                  and """
              + Claimable.FITS
              + """
              )) / a.requests_per_process) as integer) as missing
            from agent a
            join agent_revision r on r.agent_id = a.id and r.revision = :revision
            join builder_job b on b.id = r.builder_job_id and b.state = 'succeeded'
            join build i on i.id = b.build_id and i.removed_at is null
            where a.id = :agent and a.deleted_at is null),
          slots as (
            select s.slot, row_number() over (order by s.slot) as number
            from target t cross join generate_series(1, t.max_concurrency) s (slot)
            where not exists (
                select 1 from executor x where x.agent_id = t.id and x.slot = s.slot and x.state <> 'ended')
              and (t.requests_per_process > 1 or not exists (
                select 1 from execution e where e.agent_id = t.id and e.slot = s.slot and e.state = 'running'))),
          fitting as materialized (
            select x.id from executor x
            join target t on t.build_id = x.build_id and t.memory_mib = x.memory_mib and t.cpu = x.cpu
              and t.profile is not distinct from x.profile and t.egress = x.egress
            where x.agent_id is null and x.state = 'ready' and x.lease_expires_at > now()
            order by x.ready_at
            limit (select greatest(0, least(t.missing, :most)) from target t)
            for update of x skip locked),
          numbered as (select id, row_number() over () as number from fitting)
          update executor x
          set agent_id = :agent, agent_revision = :revision, slot = s.slot, assigned_at = now(),
            requests_per_process = (select t.requests_per_process from target t)
          from numbered n join slots s on s.number = n.number
          where x.id = n.id
          returning x.id""");

  /** The latest cold start counts however old it is, so that an idle system keeps one executor. */
  private static final Sql COLD_STARTS =
      Sql.of(
          """
          select b.build_id, i.image_key, i.image, i.python_version, a.memory_mib, a.cpu, r.profile, r.egress,
            x.assigned_at, extract(epoch from x.ready_at - x.created_at) as startup_seconds
          from executor x
          join agent a on a.id = x.agent_id and a.deleted_at is null
          join agent_revision r on r.agent_id = a.id and r.revision = coalesce(a.running_revision, a.revision)
          join builder_job b on b.id = r.builder_job_id and b.state = 'succeeded'
          join build i on i.id = b.build_id and i.removed_at is null
          where x.assigned_at >= least(
            now() - make_interval(secs => :window), (select max(assigned_at) from executor))
          order by x.assigned_at desc limit :most""");

  private static final Sql BUILD =
      Sql.of("select image_key, image, python_version from build where id = :build");

  private static final Sql MEMBERS =
      Sql.of(
          """
          select build_id, memory_mib, cpu, profile, egress, count(*) as count from executor
          where agent_id is null and state in ('starting', 'ready')
          group by build_id, memory_mib, cpu, profile, egress""");

  /** Those that are starting first: the others can be used now. */
  private static final Sql STOP =
      Sql.of(
          """
          update executor set state = 'stopping' where id in (
            select x.id from executor x
            where x.agent_id is null and x.state in ('starting', 'ready')
              and (cast(:build as text) is null or (x.build_id = :build and x.memory_mib = :memory
                and x.cpu = :cpu and x.profile is not distinct from :profile and x.egress = :egress))
            order by x.state desc, x.id limit :most for update skip locked)
          returning id""");

  private final EntityManager entities;

  PoolRepository(EntityManager entities) {
    this.entities = entities;
  }

  /**
   * What the runtime needs to start an executor of the pool.
   *
   * @param image null on runtimes without images
   */
  record Pool(PoolKey key, String imageKey, String image, String pythonVersion) {}

  /**
   * @param pool the one that an executor for that agent would now come from
   * @param startup from the start of the executor until it could work; null: it has not reported
   */
  record ColdStart(Pool pool, Instant at, Duration startup) {}

  record Members(PoolKey pool, int count) {}

  /**
   * Gives up to {@code most} executors of pools to that target, as far as its jobs need them.
   *
   * @return the executors
   */
  List<String> assign(RevisionKey target, int most) {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              Executor.lockSlots(target.agentId());
              return ASSIGN
                  .with("agent", target.agentId())
                  .with("revision", target.agentRevision())
                  .with("most", most)
                  .strings(entities);
            });
  }

  /** The agents' recent cold starts, latest first. */
  List<ColdStart> coldStarts(Duration window) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                COLD_STARTS
                    .with("window", (double) window.toSeconds())
                    .with("most", MOST_STARTS)
                    .list(
                        entities,
                        row ->
                            new ColdStart(
                                new Pool(
                                    key(row),
                                    row.getString("image_key"),
                                    row.getString("image"),
                                    row.getString("python_version")),
                                Sql.instant(row, "assigned_at"),
                                startup(row))));
  }

  private static Duration startup(ResultSet row) throws SQLException {
    double seconds = row.getDouble("startup_seconds");
    return row.wasNull() ? null : Duration.ofMillis((long) (seconds * 1_000));
  }

  Pool pool(PoolKey key) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                BUILD
                    .with("build", key.buildId())
                    .first(
                        entities,
                        row ->
                            new Pool(
                                key,
                                row.getString("image_key"),
                                row.getString("image"),
                                row.getString("python_version")))
                    .orElseThrow());
  }

  /** The pools' executors that wait for an agent or are starting. */
  List<Members> members() {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> MEMBERS.with().list(entities, row -> new Members(key(row), row.getInt("count"))));
  }

  private static PoolKey key(ResultSet row) throws SQLException {
    return new PoolKey(
        row.getString("build_id"),
        row.getInt("memory_mib"),
        row.getDouble("cpu"),
        row.getString("profile"),
        row.getString("egress"));
  }

  /**
   * Stops executors of a pool.
   *
   * @param key null: of any pool
   * @return the executors that are to stop
   */
  List<String> stop(PoolKey key, int most) {
    PoolKey any = new PoolKey(null, 0, 0, null, null);
    PoolKey chosen = key == null ? any : key;
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                STOP.with("build", chosen.buildId())
                    .with("memory", chosen.memoryMib())
                    .with("cpu", chosen.cpu())
                    .with("profile", chosen.profile())
                    .with("egress", chosen.egress())
                    .with("most", most)
                    .strings(entities));
  }
}
