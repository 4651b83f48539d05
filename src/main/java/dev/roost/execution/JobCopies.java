package dev.roost.execution;

import dev.roost.agent.Agent;
import dev.roost.api.Ids;
import dev.roost.api.Storage;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Submits jobs again: with the payload, the priority and the concurrency key as stored, and the
 * agent's running revision.
 */
@ApplicationScoped
public class JobCopies {
  private static final Sql INSERT =
      Sql.of(
          """
          insert into executor_job (id, agent_id, agent_revision, payload, payload_file_id, priority, concurrency_key, batch_id,
            state, idempotency_key, request_sha256, traceparent, created_at)
          select o.id, a.id, coalesce(a.running_revision, a.revision), j.payload, j.payload_file_id, j.priority, j.concurrency_key,
            :batch,
            'queued', case when o.id = :batch then cast(:key as text) end,
            case when o.id = :batch then :digest end, cast(:trace as text), :now
          from agent a cross join unnest(:ids, :sources) o (id, source) join executor_job j on j.id = o.source
          where a.id = :agent and a.deleted_at is null and :most >= :count + (
            select count(*) from executor_job q where q.agent_id = a.id and q.state = 'queued')
          returning agent_revision""");

  /** What the sources have read is there as long as they are. */
  private static final Sql LINK_FILES =
      Sql.of(
          """
          insert into job_file (executor_job_id, kind, name, file_id, created_at)
          select o.id, f.kind, f.name, f.file_id, :now
          from unnest(:ids, :sources) o (id, source)
          join job_file f on f.executor_job_id = o.source and f.kind in ('input', 'payload')""");

  private final EntityManager entities;
  private final ExecutorJobs jobs;
  private final Storage storage;
  private final Clock clock;
  private final Event<ExecutorJobQueued> queued;

  JobCopies(
      EntityManager entities,
      ExecutorJobs jobs,
      Storage storage,
      Clock clock,
      Event<ExecutorJobQueued> queued) {
    this.entities = entities;
    this.jobs = jobs;
    this.storage = storage;
    this.clock = clock;
    this.queued = queued;
  }

  /**
   * @param ids of the new jobs, in the order of their sources; the first one identifies the batch
   */
  public record Copies(List<String> ids, int agentRevision) {
    public String batchId() {
      return ids.get(0);
    }
  }

  /**
   * The jobs that an earlier request with this Idempotency-Key created, in the caller's
   * transaction.
   *
   * @param idempotencyKey or null
   * @throws dev.roost.api.Problem idempotency_key_reused
   */
  public Optional<Copies> earlier(String agentId, String idempotencyKey, byte[] digest) {
    return Optional.ofNullable(
            ExecutorJobs.earlier(agentId, idempotencyKey, digest, clock.instant()))
        .map(job -> new Copies(ExecutorJob.idsOfBatch(job.batchId), job.agentRevision));
  }

  /**
   * Submits these jobs again, all or none, in the caller's transaction. The caller calls {@link
   * #announce} after the commit.
   *
   * @param sources jobs of the agent, at least one
   * @param idempotencyKey or null
   * @param trace or null
   * @throws dev.roost.api.Problem not_found, queue_full (without capacity for all), storage_full
   */
  public Copies submit(
      String agentId, List<String> sources, String idempotencyKey, byte[] digest, String trace) {
    storage.require(Storage.Area.PAYLOADS);
    ExecutorJob.flush();
    List<String> ids = Stream.generate(() -> Ids.next("xjob")).limit(sources.size()).toList();
    Instant now = clock.instant();
    List<Integer> revisions =
        jobs.bindRequest(INSERT, agentId, idempotencyKey, digest, trace, now)
            .with("ids", ids.toArray(String[]::new))
            .with("sources", sources.toArray(String[]::new))
            .with("count", sources.size())
            .with("batch", ids.get(0))
            .list(entities, row -> row.getInt("agent_revision"));
    if (revisions.isEmpty()) {
      Agent.require(agentId);
      throw jobs.queueFull();
    }
    LINK_FILES
        .with("ids", ids.toArray(String[]::new))
        .with("sources", sources.toArray(String[]::new))
        .with("now", now)
        .update(entities);
    return new Copies(ids, revisions.get(0));
  }

  /** Starts what runs queued jobs. */
  public void announce(String agentId, Copies copies) {
    queued.fire(new ExecutorJobQueued(agentId, copies.agentRevision(), copies.ids().size()));
  }
}
