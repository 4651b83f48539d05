package dev.roost.execution;

import dev.roost.agent.Agent;
import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Sql;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** Takes many orders for one agent at once: all of them or none. */
@ApplicationScoped
class BatchOrders {
  /** Whoever repeats a request while it is being served waits for this lock, and then finds it. */
  private static final Sql ONE_AT_A_TIME =
      Sql.of("select pg_advisory_xact_lock(hashtextextended(:agent || ' ' || :key, 0))");

  private static final Sql INSERT =
      Sql.of(
          """
          insert into executor_job (id, agent_id, agent_revision, payload, priority, concurrency_key, batch_id,
            state, idempotency_key, request_sha256, created_at)
          select o.id, a.id, coalesce(a.running_revision, a.revision), o.payload, :priority, cast(:concurrency as text), :batch,
            'queued', case when o.number = 1 then cast(:key as text) end, case when o.number = 1 then :digest end, :now
          from agent a cross join unnest(:ids, :payloads) with ordinality o (id, payload, number)
          where a.id = :agent and a.deleted_at is null and :most >= cardinality(:ids) + (
            select count(*) from executor_job q where q.agent_id = a.id and q.state = 'queued')
          returning agent_revision""");

  private final EntityManager entities;
  private final RoostConfig config;
  private final Orders orders;
  private final Clock clock;
  private final Event<ExecutorJobQueued> queued;

  BatchOrders(
      EntityManager entities,
      RoostConfig config,
      Orders orders,
      Clock clock,
      Event<ExecutorJobQueued> queued) {
    this.entities = entities;
    this.config = config;
    this.orders = orders;
    this.clock = clock;
    this.queued = queued;
  }

  /**
   * @param ids of the ExecutorJobs, in the order of the payloads; the first is the batch's, too
   * @param repeated whether an earlier request with the same Idempotency-Key made them
   */
  record Placed(List<String> ids, int agentRevision, Instant createdAt, boolean repeated) {
    String batchId() {
      return ids.get(0);
    }
  }

  /**
   * Orders an execution of the agent's revision that runs for each payload.
   *
   * @param payloads at least one
   * @param idempotencyKey or null
   * @throws Problem not_found, queue_full (when there is not room for all), idempotency_key_reused
   */
  Placed place(String agentId, List<JsonText> payloads, Options options, String idempotencyKey) {
    String[] texts = payloads.stream().map(JsonText::text).toArray(String[]::new);
    byte[] digest = Text.sha256(options.addTo("batch\n" + String.join("\n", texts)));
    Placed placed =
        QuarkusTransaction.requiringNew()
            .call(() -> place(agentId, texts, options, idempotencyKey, digest));
    if (!placed.repeated()) {
      queued.fire(new ExecutorJobQueued(agentId, placed.agentRevision(), placed.ids().size()));
    }
    return placed;
  }

  private Placed place(
      String agentId, String[] payloads, Options options, String idempotencyKey, byte[] digest) {
    Instant now = clock.instant();
    if (idempotencyKey != null) {
      ONE_AT_A_TIME
          .with("agent", agentId)
          .with("key", idempotencyKey)
          .list(entities, row -> row.getString(1));
    }
    ExecutorJob earlier = Orders.earlier(agentId, idempotencyKey, digest, now);
    if (earlier != null) {
      return new Placed(
          ExecutorJob.idsOfBatch(earlier.batchId), earlier.agentRevision, earlier.createdAt, true);
    }
    ExecutorJob.flush();
    String[] ids =
        Stream.generate(() -> Ids.next("xjob")).limit(payloads.length).toArray(String[]::new);
    List<Integer> revisions =
        INSERT
            .with("ids", ids)
            .with("payloads", payloads)
            .with("priority", options.priority())
            .with("concurrency", options.concurrencyKey())
            .with("batch", ids[0])
            .with("key", idempotencyKey)
            .with("digest", digest)
            .with("now", now)
            .with("agent", agentId)
            .with("most", config.limits().queuedExecutorJobs())
            .list(entities, row -> row.getInt(1));
    if (revisions.isEmpty()) {
      Agent.require(agentId);
      throw orders.queueFull();
    }
    return new Placed(List.of(ids), revisions.get(0), now, false);
  }
}
