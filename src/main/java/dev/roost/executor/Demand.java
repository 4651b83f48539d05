package dev.roost.executor;

import dev.roost.api.Storage;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.time.Instant;
import java.util.List;

/** The waiting jobs, by agent and revision. */
@ApplicationScoped
class Demand {
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
   * @param free idle executors for these jobs, on any replica
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
      int memoryMib,
      double cpu,
      String pythonVersion,
      String profile,
      String egress,
      String builderJobId,
      String buildState,
      String buildMessage,
      String buildId,
      String imageKey,
      String image,
      boolean removed) {
    boolean buildFailed() {
      return buildState.equals("failed") || buildState.equals("cancelled");
    }

    boolean isBuilt() {
      return buildState.equals("succeeded");
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
    List<Object[]> rows =
        entities
            .createNativeQuery(
                """
                select q.agent_id, q.agent_revision, a.name, q.waiting, q.oldest, a.max_concurrency, a.memory_mib, a.cpu,
                  r.python_version, b.id, b.state, b.message, b.build_id, b.image_key, i.image,
                  (select count(*) from executor x where x.agent_id = q.agent_id
                    and x.agent_revision = q.agent_revision and x.state = 'starting' and not x.yields
                    and """
                    + Executor.FITS
                    + """
                  ),
                  (select count(*) from executor x where x.agent_id = q.agent_id
                    and x.agent_revision = q.agent_revision and x.state = 'ready' and x.lease_expires_at > now()
                    and not x.yields and coalesce(x.slot, 1) <= a.max_concurrency
                    and not exists (
                      select 1 from execution e where e.executor_id = x.id and e.state = 'running')
                    and """
                    + Executor.FITS
                    + """
                  ),
                  i.removed_at is not null, r.profile, r.egress
                from (
                  select j.agent_id, j.agent_revision, min(j.id) as oldest,
                    count(*) filter (where j.concurrency_key is null)
                    + count(distinct j.concurrency_key) filter (where e.id is null) as waiting
                  from executor_job j left join execution e on e.agent_id = j.agent_id
                    and e.concurrency_key = j.concurrency_key and e.state = 'running'
                  where j.state = 'queued' and (j.not_before is null or j.not_before <= :now)
                  group by j.agent_id, j.agent_revision) q
                join agent a on a.id = q.agent_id
                join agent_revision r on r.agent_id = q.agent_id and r.revision = q.agent_revision
                join builder_job b on b.id = r.builder_job_id
                left join build i on i.id = b.build_id
                order by q.oldest""",
                Object[].class)
            .setParameter("now", now)
            .getResultList();
    return rows.stream().map(Demand::waiting).toList();
  }

  private static Waiting waiting(Object[] row) {
    return new Waiting(
        new RevisionKey((String) row[0], (Integer) row[1]),
        (String) row[2],
        ((Number) row[3]).intValue(),
        (String) row[4],
        ((Number) row[15]).intValue(),
        ((Number) row[16]).intValue(),
        (Integer) row[5],
        (Integer) row[6],
        ((Number) row[7]).doubleValue(),
        (String) row[8],
        (String) row[18],
        (String) row[19],
        (String) row[9],
        (String) row[10],
        (String) row[11],
        (String) row[12],
        (String) row[13],
        (String) row[14],
        (Boolean) row[17]);
  }

  /** The next moment at which a job's retry delay ends, or null. */
  Instant nextDue() {
    return (Instant)
        entities
            .createNativeQuery(
                "select min(not_before) from executor_job where state = 'queued' and not_before > now()",
                Instant.class)
            .getSingleResult();
  }

  /** The identifiers of the target's waiting jobs, due or not. */
  List<String> jobs(RevisionKey target) {
    return entities
        .createNativeQuery(
            "select id from executor_job where agent_id = :agent and agent_revision = :revision and state = 'queued'",
            String.class)
        .setParameter("agent", target.agentId())
        .setParameter("revision", target.agentRevision())
        .getResultList();
  }
}
