package dev.roost.execution;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentDeletion;
import dev.roost.agent.InputSchemas;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.api.Text;
import dev.roost.cluster.Signals;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import jakarta.persistence.EntityManager;
import jakarta.ws.rs.core.Response;
import java.net.URI;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Submits ExecutorJobs and cancels them. */
@ApplicationScoped
public class ExecutorJobs {
  /** How long an Idempotency-Key identifies the job that it was sent with. */
  private static final Duration IDEMPOTENCY = Duration.ofHours(24);

  private static final String INTO =
      """
      insert into executor_job (id, agent_id, agent_revision, schedule_id, payload, payload_file_id, draft_script, priority,
        concurrency_key, state, idempotency_key, request_sha256, traceparent, parent_id, depth, created_at)
      select :id, a.id, coalesce(a.running_revision, a.revision), cast(:schedule as text), cast(:payload as text),
        cast(:payloadFile as text), cast(:draft as text), :priority, cast(:concurrency as text), 'queued',
        cast(:key as text), :digest, cast(:trace as text), cast(:parent as text), :depth, :now
      from agent a
      where a.id = :agent and a.deleted_at is null
        and (cast(:checked as int) is null or coalesce(a.running_revision, a.revision) = :checked) and :most > (
        select count(*) from executor_job q where q.agent_id = a.id and q.state = 'queued')
      """;

  private static final String UNLESS_THERE =
      """
      on conflict (agent_id, idempotency_key) where idempotency_key is not null do nothing
      returning id, agent_revision""";

  private static final Sql INSERT = Sql.of(INTO + UNLESS_THERE);

  /** Those of the files that are stored. They stay, as they are in use from now on. */
  static final String FILES =
      """
      files as (
        update file set used_at = :now where id = any(:fileIds) and state = 'stored' returning id)""";

  static final String ALL_FILES =
      "(select count(*) from files) = (select count(distinct id) from unnest(:fileIds) g (id))";

  /** The same, of a job with files. None is inserted if one of the files isn't stored. */
  private static final Sql INSERT_WITH_FILES =
      Sql.of(
          "with "
              + FILES
              + ", inserted as ("
              + INTO
              + " and "
              + ALL_FILES
              + "\n"
              + UNLESS_THERE
              + """
              ),
              linked as (
                insert into job_file (executor_job_id, kind, name, file_id, created_at)
                select i.id, g.kind, g.name, g.id, :now
                from inserted i cross join unnest(:fileIds, :fileNames, :fileKinds) g (id, name, kind))
              select agent_revision from inserted""");

  private static final Sql MISSING_FILES =
      Sql.of(
          """
          select g.name from unnest(:fileIds, :fileNames) g (id, name)
          where not exists (select 1 from file f where f.id = g.id and f.state = 'stored') order by 1""");

  private final EntityManager entities;
  private final Database database;
  private final RoostConfig config;
  private final Storage storage;
  private final Signals signals;
  private final Clock clock;
  private final Event<ExecutorJobQueued> queued;
  private final Event<ConcurrencyKeyFreed> freed;
  private final WaitingExecutors executors;
  private final ImmediateJobs immediate;
  private final LargeValues values;
  private final InputSchemas schemas;

  ExecutorJobs(
      EntityManager entities,
      Database database,
      RoostConfig config,
      Storage storage,
      Signals signals,
      Clock clock,
      Event<ExecutorJobQueued> queued,
      Event<ConcurrencyKeyFreed> freed,
      WaitingExecutors executors,
      ImmediateJobs immediate,
      LargeValues values,
      InputSchemas schemas) {
    this.entities = entities;
    this.database = database;
    this.config = config;
    this.storage = storage;
    this.signals = signals;
    this.clock = clock;
    this.queued = queued;
    this.freed = freed;
    this.executors = executors;
    this.immediate = immediate;
    this.values = values;
    this.schemas = schemas;
  }

  /**
   * @param repeated whether an earlier request with the same Idempotency-Key created it
   */
  public record Submitted(
      String executorJobId, int agentRevision, Instant createdAt, boolean repeated) {
    /** The response to the submitter: 201, or 200 when the job existed already. */
    public Response answer(ExecutorJob.View job) {
      return Response.status(repeated ? 200 : 201)
          .location(URI.create("/v1/executor-jobs/" + job.id()))
          .entity(job)
          .build();
    }
  }

  /**
   * Submits an execution of the agent's running revision.
   *
   * @param payload or null
   * @param idempotencyKey or null
   * @throws Problem not_found, validation_failed, queue_full, storage_full, idempotency_key_reused
   */
  public Submitted submit(String agentId, JsonText payload, String idempotencyKey) {
    return submit(agentId, payload, Options.NONE, idempotencyKey, null);
  }

  /** Submits an execution with options. */
  public Submitted submit(
      String agentId, JsonText payload, Options options, String idempotencyKey) {
    return submit(agentId, payload, options, idempotencyKey, null);
  }

  /**
   * Submits an execution with options.
   *
   * @param trace that it belongs to, see {@link dev.roost.trace.Traces#parent}; or null
   */
  public Submitted submit(
      String agentId, JsonText payload, Options options, String idempotencyKey, String trace) {
    return submit(NewJob.next(), agentId, payload, options, idempotencyKey, trace);
  }

  /**
   * @param agentRevision that the job runs
   * @param begun whether an executor has it already
   */
  record Inserted(int agentRevision, boolean begun) {}

  /**
   * Submits an execution with options.
   *
   * @param trace that it belongs to, see {@link dev.roost.trace.Traces#parent}; or null
   */
  Submitted submit(
      NewJob job,
      String agentId,
      JsonText payload,
      Options options,
      String idempotencyKey,
      String trace) {
    // A call is known by its place in its caller's history: a script that runs again may call with
    // another payload, such as the time.
    String content =
        job.parentId() == null
            ? options.addTo(payload == null ? "" : payload.text())
            : idempotencyKey;
    return submit(job, agentId, payload, options, idempotencyKey, content, trace);
  }

  /**
   * @param content what all requests with the same Idempotency-Key have to have in common
   */
  Submitted submit(
      NewJob job,
      String agentId,
      JsonText payload,
      Options options,
      String idempotencyKey,
      String content,
      String trace) {
    String text = payload == null ? null : payload.text();
    byte[] digest = Text.sha256(content);
    Function<Integer, Submitted> submission =
        checked -> {
          LargeValues.Kept kept = values.keep("payload", text);
          boolean isUsed = false;
          try {
            Submitted submitted =
                submit(job, agentId, checked, kept, options, idempotencyKey, digest, trace);
            isUsed = !submitted.repeated();
            return submitted;
          } finally {
            if (!isUsed) {
              values.discard(kept.fileId());
            }
          }
        };
    return options.draft() != null
        ? submission.apply(null) // Its script is another one than that of the schema.
        : schemas.submit(
            agentId,
            InputSchemas.Payloads.one(payload),
            submission,
            () -> repeated(agentId, idempotencyKey, digest, clock.instant()));
  }

  /**
   * What an earlier request with this key got, or null.
   *
   * @throws Problem not_found, idempotency_key_reused
   */
  private static Submitted repeated(
      String agentId, String idempotencyKey, byte[] digest, Instant now) {
    ExecutorJob earlier =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  Agent.require(agentId);
                  return earlier(agentId, idempotencyKey, digest, now);
                });
    return earlier == null
        ? null
        : new Submitted(earlier.id, earlier.agentRevision, earlier.createdAt, true);
  }

  /**
   * @param checked the revision that has to run; null: any
   */
  private Submitted submit(
      NewJob job,
      String agentId,
      Integer checked,
      LargeValues.Kept payload,
      Options options,
      String idempotencyKey,
      byte[] digest,
      String trace) {
    Instant now = clock.instant();
    // A second time if the key was used so long ago that it is free again.
    for (int attempt = 0; attempt < 2; attempt++) {
      Optional<Inserted> inserted =
          storage.isFull(Storage.Area.PAYLOADS)
              ? Optional.empty()
              : insert(
                  job,
                  agentId,
                  options,
                  payload.fileId(),
                  statement ->
                      bindRequest(statement, agentId, idempotencyKey, digest, trace, now)
                          .with("checked", checked)
                          .with("id", job.id())
                          .with("parent", job.parentId())
                          .with("depth", job.depth())
                          .with("schedule", options.scheduleId())
                          .with("payload", payload.text())
                          .with("priority", options.priority()));
      if (inserted.isPresent()) {
        int revision = inserted.get().agentRevision();
        if (!inserted.get().begun()) {
          queued.fire(new ExecutorJobQueued(agentId, revision));
        }
        return new Submitted(job.id(), revision, now, false);
      }
      Submitted repeated = repeated(agentId, idempotencyKey, digest, now);
      if (repeated != null) {
        return repeated;
      }
      if (idempotencyKey == null) {
        break;
      }
    }
    storage.require(Storage.Area.PAYLOADS);
    requireFiles(options);
    throw queueFull();
  }

  /**
   * The job that an earlier request with this key created, or null. A key can be used again after
   * {@link #IDEMPOTENCY}.
   */
  static ExecutorJob earlier(String agentId, String idempotencyKey, byte[] digest, Instant now) {
    if (idempotencyKey == null) {
      return null;
    }
    ExecutorJob earlier =
        ExecutorJob.<ExecutorJob>find(
                "agentId = ?1 and idempotencyKey = ?2", agentId, idempotencyKey)
            .firstResult();
    if (earlier == null) {
      return null;
    }
    if (!earlier.createdAt.plus(IDEMPOTENCY).isAfter(now)) {
      ExecutorJob.update("idempotencyKey = null where id = ?1", earlier.id);
      return null;
    }
    if (!MessageDigest.isEqual(earlier.requestSha256, digest)) {
      throw Problem.of(
          ErrorCode.IDEMPOTENCY_KEY_REUSED,
          "This Idempotency-Key was used with a different request. Use a new key for each job.");
    }
    return earlier;
  }

  /**
   * @throws Problem validation_failed: one of the files isn't stored
   */
  void requireFiles(Options options) {
    if (options.files().isEmpty()) {
      return;
    }
    Sql.Bound missing = withFiles(MISSING_FILES.with(), options);
    List<String> names = database.once(missing::strings);
    if (!names.isEmpty()) {
      throw Problem.invalid(
          names.stream()
              .map(
                  name ->
                      new Problem.FieldError(
                          "/files/" + name,
                          "not_found",
                          "There is no complete file with the id "
                              + Text.quote(options.files().get(name))
                              + "."))
              .toList());
    }
  }

  static Sql.Bound withFiles(Sql.Bound statement, Options options) {
    return statement
        .with("fileIds", options.files().values().toArray(String[]::new))
        .with("fileNames", options.files().keySet().toArray(String[]::new));
  }

  Problem queueFull() {
    return Problem.retryLater(
        ErrorCode.QUEUE_FULL,
        ("The agent's queue is full; the limit is %,d queued jobs (setting "
                + "roost.limits.queued-executor-jobs).")
            .formatted(config.limits().queuedExecutorJobs()),
        5);
  }

  /**
   * Empty when the agent doesn't exist, its queue is full or the key was used. One statement, which
   * is a transaction by itself: a commit would be another round trip for each execution.
   */
  private Optional<Inserted> insert(
      NewJob job,
      String agentId,
      Options options,
      String payloadFileId,
      Function<Sql, Sql.Bound> bind) {
    boolean hasFiles = !options.files().isEmpty() || payloadFileId != null;
    if (options.concurrencyKey() == null && options.draft() == null && !hasFiles) {
      Optional<WaitingExecutors.Reserved> executor = executors.reserve(agentId);
      if (executor.isPresent()) {
        try {
          return immediate.create(job, bind.apply(ImmediateJobs.statement()), executor.get());
        } catch (Database.Failure e) {
          if (!JobClaimer.isTaken(e)) {
            throw e;
          }
          // The executor has an Execution that this replica doesn't know of: the job is queued.
        }
      }
    }
    Sql.Bound insert =
        bind.apply(hasFiles ? INSERT_WITH_FILES : INSERT)
            .with("concurrency", options.concurrencyKey())
            .with("draft", options.draft())
            .with("payloadFile", payloadFileId);
    if (hasFiles) {
      List<String> ids = new ArrayList<>(options.files().values());
      List<String> names = new ArrayList<>(options.files().keySet());
      List<String> kinds = new ArrayList<>(Collections.nCopies(ids.size(), "input"));
      if (payloadFileId != null) {
        ids.add(payloadFileId);
        names.add("payload");
        kinds.add("payload");
      }
      insert
          .with("fileIds", ids.toArray(String[]::new))
          .with("fileNames", names.toArray(String[]::new))
          .with("fileKinds", kinds.toArray(String[]::new));
    }
    return database.once(
        connection ->
            insert.first(connection, row -> new Inserted(row.getInt("agent_revision"), false)));
  }

  /** Binds the parameters that inserts of one job and of a batch share. */
  Sql.Bound bind(
      Sql insert,
      String agentId,
      Integer checked,
      Options options,
      String idempotencyKey,
      byte[] digest,
      String trace,
      Instant now) {
    return bindRequest(insert, agentId, idempotencyKey, digest, trace, now)
        .with("checked", checked)
        .with("priority", options.priority())
        .with("concurrency", options.concurrencyKey());
  }

  /** Binds the parameters that all inserts share. */
  Sql.Bound bindRequest(
      Sql insert, String agentId, String idempotencyKey, byte[] digest, String trace, Instant now) {
    return insert
        .with("agent", agentId)
        .with("key", idempotencyKey)
        .with("digest", digest)
        .with("trace", trace)
        .with("now", now)
        .with("most", config.limits().queuedExecutorJobs());
  }

  /**
   * Cancels a job: a queued or suspended job at once; the script of a running job gets SIGTERM. No
   * effect on a job that has ended.
   */
  public void cancel(String executorJobId) {
    Instant now = clock.instant();
    ExecutorJob job =
        QuarkusTransaction.requiringNew()
            .call(
                () -> {
                  if (!ExecutorJob.cancelWaiting(executorJobId, now)
                      && !ExecutorJob.requestCancel(executorJobId)) {
                    // It may have been suspended in the meantime.
                    ExecutorJob.cancelWaiting(executorJobId, now);
                  }
                  return ExecutorJob.findById(executorJobId);
                });
    signals.fire(executorJobId);
    if (job.latestExecutionId != null) {
      signals.fire(cancelTopic(job.latestExecutionId));
    }
    if (job.holdsKey && job.hasEnded()) {
      freed.fire(new ConcurrencyKeyFreed(job.agentId));
    }
  }

  /** The topic on which an executor is notified that its execution is to be cancelled. */
  public static String cancelTopic(String executionId) {
    return executionId + "/cancel";
  }

  void cancelAll(@Observes AgentDeletion deletion) {
    ExecutorJob.cancelAll(deletion.agentId(), deletion.now());
  }
}
