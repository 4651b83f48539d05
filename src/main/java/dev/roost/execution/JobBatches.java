package dev.roost.execution;

import dev.roost.agent.Agent;
import dev.roost.agent.InputSchemas;
import dev.roost.api.Body;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.api.Text;
import dev.roost.db.Sql;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.persistence.EntityManager;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Submits many jobs of one agent at once: all of them or none. */
@ApplicationScoped
class JobBatches {
  /**
   * A request that is repeated while the first one is being served waits for this lock, and then
   * finds the jobs.
   */
  private static final Sql ONE_AT_A_TIME =
      Sql.of("select pg_advisory_xact_lock(hashtextextended(:agent || ' ' || :key, 0))");

  private static final Sql INSERT =
      Sql.of(
          """
          with linked as (
            insert into job_file (executor_job_id, kind, name, file_id, created_at)
            select o.id, 'payload', 'payload', o.file, :now from unnest(:ids, :files) o (id, file)
            where o.file is not null)
          insert into executor_job (id, agent_id, agent_revision, payload, payload_file_id, priority, concurrency_key,
            batch_id, state, idempotency_key, request_sha256, traceparent, created_at)
          select o.id, a.id, coalesce(a.running_revision, a.revision), o.payload, o.file, :priority, cast(:concurrency as text), :batch,
            'queued', case when o.id = :batch then cast(:key as text) end,
            case when o.id = :batch then :digest end, cast(:trace as text), :now
          from agent a cross join unnest(:ids, :payloads, :files) o (id, payload, file)
          where a.id = :agent and a.deleted_at is null
            and coalesce(a.running_revision, a.revision) = :checked and :most >= :count + (
            select count(*) from executor_job q where q.agent_id = a.id and q.state = 'queued')
          returning agent_revision""");

  /** All jobs read the same files; none is linked if one of them isn't stored. */
  private static final Sql LINK_FILES =
      Sql.of(
          "with "
              + ExecutorJobs.FILES
              + """

              insert into job_file (executor_job_id, kind, name, file_id, created_at)
              select o.id, 'input', g.name, g.id, :now
              from unnest(:ids) o (id) cross join unnest(:fileIds, :fileNames) g (id, name)
              where\s"""
              + ExecutorJobs.ALL_FILES);

  /** The limit for the payloads in one statement, which holds them in memory several times. */
  private static final int STATEMENT_BYTES = 4 << 20;

  private final EntityManager entities;
  private final ExecutorJobs jobs;
  private final Storage storage;
  private final Clock clock;
  private final Event<ExecutorJobQueued> queued;
  private final LargeValues values;
  private final InputSchemas schemas;

  JobBatches(
      EntityManager entities,
      ExecutorJobs jobs,
      Storage storage,
      Clock clock,
      Event<ExecutorJobQueued> queued,
      LargeValues values,
      InputSchemas schemas) {
    this.entities = entities;
    this.jobs = jobs;
    this.storage = storage;
    this.clock = clock;
    this.queued = queued;
    this.values = values;
    this.schemas = schemas;
  }

  /**
   * @param ids of the ExecutorJobs, in the order of the payloads; the first one also identifies the
   *     batch
   * @param repeated whether an earlier request with the same Idempotency-Key created them
   */
  record Submitted(List<String> ids, int agentRevision, Instant createdAt, boolean repeated) {
    String batchId() {
      return ids.get(0);
    }
  }

  /**
   * Submits an execution of the agent's running revision for each payload.
   *
   * @param payloads at least one
   * @param idempotencyKey or null
   * @param trace that they belong to, see {@link dev.roost.trace.Traces#parent}; or null
   * @throws Problem not_found, validation_failed, queue_full (without capacity for all),
   *     idempotency_key_reused
   */
  Submitted submit(
      String agentId,
      Body.Elements payloads,
      Options options,
      String idempotencyKey,
      String trace) {
    byte[] digest = digest(payloads, options);
    return schemas.submit(
        agentId,
        new InputSchemas.Payloads(payloads.count(), payloads.text()::apply, i -> "/payloads/" + i),
        checked -> submit(agentId, checked, payloads, options, idempotencyKey, digest, trace),
        () ->
            QuarkusTransaction.requiringNew()
                .call(() -> earlier(agentId, idempotencyKey, digest, clock.instant())));
  }

  private Submitted submit(
      String agentId,
      Integer checked,
      Body.Elements payloads,
      Options options,
      String idempotencyKey,
      byte[] digest,
      String trace) {
    Map<Integer, LargeValues.Kept> large = new HashMap<>();
    boolean areUsed = false;
    try {
      // Before the transaction, which would be open for as long as the storage of files takes.
      keepLarge(payloads, large);
      Submitted submitted =
          QuarkusTransaction.requiringNew()
              .call(
                  () ->
                      submit(
                          agentId,
                          checked,
                          payloads,
                          large,
                          options,
                          idempotencyKey,
                          digest,
                          trace));
      areUsed = !submitted.repeated();
      if (areUsed) {
        queued.fire(
            new ExecutorJobQueued(agentId, submitted.agentRevision(), submitted.ids().size()));
      }
      return submitted;
    } finally {
      if (!areUsed) {
        large.values().forEach(kept -> values.discard(kept.fileId()));
      }
    }
  }

  private void keepLarge(Body.Elements payloads, Map<Integer, LargeValues.Kept> large) {
    for (int i = 0; i < payloads.count(); i++) {
      if (payloads.sizeBytes().get(i) > LargeValues.MOST_BYTES) {
        large.put(i, values.keep("payload", payloads.text().apply(i).text()));
      }
    }
  }

  private static byte[] digest(Body.Elements payloads, Options options) {
    MessageDigest digest = Text.sha256();
    digest.update("batch".getBytes(StandardCharsets.UTF_8));
    for (int i = 0; i < payloads.count(); i++) {
      digest.update(("\n" + payloads.text().apply(i).text()).getBytes(StandardCharsets.UTF_8));
    }
    return digest.digest(options.addTo("").getBytes(StandardCharsets.UTF_8));
  }

  /** The jobs that an earlier request with this key created, or null. */
  private static Submitted earlier(
      String agentId, String idempotencyKey, byte[] digest, Instant now) {
    ExecutorJob earlier = ExecutorJobs.earlier(agentId, idempotencyKey, digest, now);
    return earlier == null
        ? null
        : new Submitted(
            ExecutorJob.idsOfBatch(earlier.batchId),
            earlier.agentRevision,
            earlier.createdAt,
            true);
  }

  private Submitted submit(
      String agentId,
      Integer checked,
      Body.Elements payloads,
      Map<Integer, LargeValues.Kept> large,
      Options options,
      String idempotencyKey,
      byte[] digest,
      String trace) {
    Instant now = clock.instant();
    if (idempotencyKey != null) {
      ONE_AT_A_TIME.with("agent", agentId).with("key", idempotencyKey).list(entities, row -> row);
    }
    Submitted earlier = earlier(agentId, idempotencyKey, digest, now);
    if (earlier != null) {
      return earlier;
    }
    storage.require(Storage.Area.PAYLOADS);
    ExecutorJob.flush();
    List<String> ids = Stream.generate(() -> Ids.next("xjob")).limit(payloads.count()).toList();
    int revision = 0;
    for (int first = 0, end; first < payloads.count(); first = end) {
      end = endOfStatement(payloads.sizeBytes(), first);
      List<Integer> revisions =
          jobs.bind(INSERT, agentId, checked, options, idempotencyKey, digest, trace, now)
              .with("ids", ids.subList(first, end).toArray(String[]::new))
              .with("payloads", texts(payloads, large, first, end))
              .with("files", files(large, first, end))
              .with("count", end - first)
              .with("batch", ids.get(0))
              .list(entities, row -> row.getInt("agent_revision"));
      if (revisions.isEmpty()) {
        Agent.require(agentId);
        throw jobs.queueFull();
      }
      if (first == 0) {
        revision = revisions.get(0);
      }
    }
    if (!options.files().isEmpty()) {
      Sql.Bound link =
          ExecutorJobs.withFiles(
              LINK_FILES.with("ids", ids.toArray(String[]::new)).with("now", now), options);
      while (link.update(entities) == 0) {
        // Either a file is missing, or the last of them has just been stored.
        jobs.requireFiles(options);
      }
    }
    return new Submitted(ids, revision, now, false);
  }

  /** The end (exclusive) of the payloads that fit into one statement with the first one. */
  private static int endOfStatement(List<Integer> sizes, int first) {
    int end = first + 1;
    long bytes = sizes.get(first);
    while (end < sizes.size() && bytes + sizes.get(end) <= STATEMENT_BYTES) {
      bytes += sizes.get(end);
      end++;
    }
    return end;
  }

  private static String[] texts(
      Body.Elements payloads, Map<Integer, LargeValues.Kept> large, int first, int end) {
    return IntStream.range(first, end)
        .mapToObj(i -> large.containsKey(i) ? large.get(i).text() : payloads.text().apply(i).text())
        .toArray(String[]::new);
  }

  private static String[] files(Map<Integer, LargeValues.Kept> large, int first, int end) {
    return IntStream.range(first, end)
        .mapToObj(i -> large.containsKey(i) ? large.get(i).fileId() : null)
        .toArray(String[]::new);
  }
}
