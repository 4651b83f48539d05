package dev.roost.executor;

import dev.roost.api.Storage;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import dev.roost.execution.Claimable;
import dev.roost.execution.HeldKeys;
import dev.roost.state.BuilderJobState;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/** The waiting jobs, by agent and revision. */
@ApplicationScoped
class Demand {
  private static final Sql READ =
      Sql.of(
          """
          select q.agent_id, q.agent_revision, a.name, q.waiting, q.oldest, a.max_concurrency, a.memory_mib, a.cpu,
            r.python_version, b.id as builder_job_id, b.state as build_state, b.message as build_message, b.build_id, b.image_key, i.image,
            a.requests_per_process, case when a.requests_per_process > 1 then (
              select count(*) from execution e where e.agent_id = a.id and e.state = 'running') end as executing,
            (select count(*) from executor x where x.agent_id = q.agent_id
              and x.agent_revision = q.agent_revision and x.state = 'starting' and not x.yields
              and """
              + Claimable.FITS
              + """
            ) as starting,
            (select coalesce(sum(x.requests_per_process - (
                select count(*) from execution e where e.executor_id = x.id and e.state = 'running')), 0)
              from executor x where x.agent_id = q.agent_id
              and x.agent_revision = q.agent_revision and x.state = 'ready' and x.lease_expires_at > now()
              and not x.yields and coalesce(x.slot, 1) <= a.max_concurrency
              and """
              + Claimable.FITS
              + """
            ) as free,
            i.removed_at is not null as removed, r.profile, r.egress
          from (
            select j.agent_id, j.agent_revision, min(j.id) as oldest,
              count(*) filter (where j.concurrency_key is null)
              + count(distinct j.concurrency_key) filter (where e.id is null and not """
              + HeldKeys.BY_ANOTHER
              + """
              ) as waiting
            from executor_job j left join execution e on e.agent_id = j.agent_id
              and e.concurrency_key = j.concurrency_key and e.state = 'running'
            where j.state = 'queued' and (j.not_before is null or j.not_before <= :now)
            group by j.agent_id, j.agent_revision) q
          join agent a on a.id = q.agent_id
          join agent_revision r on r.agent_id = q.agent_id and r.revision = q.agent_revision
          join builder_job b on b.id = r.builder_job_id
          left join build i on i.id = b.build_id
          order by q.oldest""");

  private static final Sql NEXT_DUE =
      Sql.of(
          """
          select min(not_before) as not_before from executor_job
          where state = 'queued' and not_before > now()
          """);

  private static final Sql JOBS =
      Sql.of(
          """
          select id from executor_job
          where agent_id = :agent and agent_revision = :revision and state = 'queued'
          """);

  private final EntityManager entities;
  private final Storage storage;

  Demand(EntityManager entities, Storage storage) {
    this.entities = entities;
    this.storage = storage;
  }

  /**
   * The waiting jobs of one agent's revision.
   *
   * @param waiting how many jobs could run now: they are due, and no concurrency key blocks them
   * @param starting executors for these jobs that have not reported yet
   * @param free how many jobs these executors can take now, on any replica: one for each idle one,
   *     or for each free place in their processes
   * @param running the agent's running executions if it may have several in a process; otherwise 0
   * @param buildState the state of the BuilderJob that the revision needs
   * @param removed whether the Build of that BuilderJob has been removed or is about to be removed
   */
  record Waiting(
      RevisionKey target,
      String agentName,
      int waiting,
      String oldestJobId,
      int starting,
      int free,
      int maxConcurrency,
      int requestsPerProcess,
      int running,
      int memoryMib,
      double cpu,
      String pythonVersion,
      String profile,
      String egress,
      String builderJobId,
      BuilderJobState buildState,
      String buildMessage,
      String buildId,
      String imageKey,
      String image,
      boolean removed) {
    /**
     * How many more executors the jobs need; negative if there are too many.
     *
     * @param coming how many executors are starting
     */
    int missing(int coming) {
      if (requestsPerProcess == 1) {
        return waiting - coming - free;
      }
      // Those that max_concurrency keeps waiting need none.
      int jobs = Math.min(waiting, Math.max(0, maxConcurrency - running));
      return Math.floorDiv(jobs - free + requestsPerProcess - 1, requestsPerProcess) - coming;
    }

    boolean buildFailed() {
      return buildState.isFailure();
    }

    boolean isBuilt() {
      return buildState == BuilderJobState.SUCCEEDED;
    }
  }

  /**
   * Reads jobs and executors in one snapshot, so that nothing is counted twice. While the storage
   * for payloads is full, no job can run.
   */
  List<Waiting> read(Instant now) {
    if (storage.isFull(Storage.Area.PAYLOADS)) {
      return List.of();
    }
    return READ.with("now", now).list(entities, Demand::waiting);
  }

  private static Waiting waiting(ResultSet row) throws SQLException {
    return new Waiting(
        new RevisionKey(row.getString("agent_id"), row.getInt("agent_revision")),
        row.getString("name"),
        row.getInt("waiting"),
        row.getString("oldest"),
        row.getInt("starting"),
        row.getInt("free"),
        row.getInt("max_concurrency"),
        row.getInt("requests_per_process"),
        row.getInt("executing"),
        row.getInt("memory_mib"),
        row.getDouble("cpu"),
        row.getString("python_version"),
        row.getString("profile"),
        row.getString("egress"),
        row.getString("builder_job_id"),
        Code.parse(BuilderJobState.class, row.getString("build_state")),
        row.getString("build_message"),
        row.getString("build_id"),
        row.getString("image_key"),
        row.getString("image"),
        row.getBoolean("removed"));
  }

  /** The next moment at which a job's retry delay ends, or null. */
  Instant nextDue() {
    return NEXT_DUE.with().list(entities, row -> Sql.instant(row, "not_before")).get(0);
  }

  /** The identifiers of the target's waiting jobs, due or not. */
  List<String> jobs(RevisionKey target) {
    return JOBS.with("agent", target.agentId())
        .with("revision", target.agentRevision())
        .strings(entities);
  }
}
