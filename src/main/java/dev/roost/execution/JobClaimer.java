package dev.roost.execution;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.agent.Agent;
import dev.roost.agent.AgentRevision;
import dev.roost.agent.EnvVars;
import dev.roost.agent.Preloads;
import dev.roost.api.Ids;
import dev.roost.api.Storage;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.state.ExecutionState;
import dev.roost.trace.Traces;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Claims the next waiting ExecutorJob for an executor. The database decides which executor gets it.
 */
@ApplicationScoped
public class JobClaimer {
  /** The stores of an agent {@code a}, as JSON. */
  static final String STORES =
      """
      (select coalesce(json_agg(json_build_object('name', d.name, 'id', d.id) order by s.position), '[]')
       from agent_store s join datastore d on d.id = s.store_id where s.agent_id = a.id)""";

  /** The files that a job {@code %s} reads, as JSON; null if there are none. */
  private static final String FILES =
      """
      (select json_agg(json_build_object('name', l.name, 'file_name', f.name, 'content_type', f.content_type,
        'size_bytes', f.size_bytes) order by l.name)
       from job_file l join file f on f.id = l.file_id
       where l.executor_job_id = %s.id and l.kind = 'input') as files""";

  /**
   * The executor if it may get work. The lock prevents an Execution on an executor that is just
   * being ended.
   *
   * <p>An executor whose process runs one execution has the slot of its executions. Otherwise each
   * execution gets a slot that no other has; null if there is none, or no place in the process. A
   * random one, since claims at the same time don't see each other, and the index of slots rejects
   * all but one of those that choose the same.
   */
  static final String ALIVE =
      """
      alive as (
        select x.id, x.build_id, x.requests_per_process as places, case when x.requests_per_process = 1 then x.slot else (
            select s.slot from generate_series(1, a.max_concurrency) s (slot)
            where not exists (
                select 1 from execution e where e.agent_id = a.id and e.slot = s.slot and e.state = 'running')
              and x.requests_per_process > (
                select count(*) from execution e where e.executor_id = x.id and e.state = 'running')
            order by random() limit 1) end as slot
        from executor x """
          + Claimable.SETTINGS_OF
          + """

        where x.id = :executor and x.state in ('starting', 'ready') and not x.yields
          and coalesce(x.slot, 1) <= a.max_concurrency and """
          + Claimable.FITS
          + """

        for share of x)""";

  /** Whether {@link #ALIVE} may get work now. */
  static final String FREE = " (places = 1 or slot is not null)";

  /**
   * One statement, which is a transaction by itself, so that a claim costs one round trip: claim
   * the job, create the Execution, read everything. If another claim has just taken a job with the
   * same concurrency key, which this statement can't see, the unique index of running keys or that
   * of held ones rejects this claim.
   */
  private static final Sql CLAIM =
      Sql.of(
          "with "
              + ALIVE
              + """
              ,
      next as (
        select j.id, j.latest_execution_id is not null as has_attempts from executor_job j
        where j.agent_id = :agent and j.agent_revision = :revision and j.state = 'queued'
          and (:drafts or j.draft_script is null)
          and (j.not_before is null or j.not_before <= :now)
          and exists (select 1 from alive where """
              + FREE
              + """
          ) and """
              + HeldKeys.FREE
              + """

        order by j.priority desc, j.id limit 1 for update skip locked),
      claimed as (
        update executor_job j set state = 'running', holds_key = j.concurrency_key is not null
          and exists (select 1 from agent a where a.id = j.agent_id and a.concurrency_key_scope = 'job'), attempts = attempts + case when resumed then 0 else 1 end, resumed = false, latest_execution_id = :execution
        from next where j.id = next.id and j.state = 'queued' returning j.*, next.has_attempts),
      inserted as (
        insert into execution (id, executor_job_id, agent_id, agent_revision, draft, build_id, executor_id, slot,
          concurrency_key, attempt, state, started_at, cold_start, queued_seconds)
        select :execution, c.id, c.agent_id, c.agent_revision, c.draft_script is not null, e.build_id, e.id, e.slot,
          c.concurrency_key, c.attempts, 'running', :now, :cold, greatest(0, extract(epoch from :now - greatest(c.created_at, c.not_before)))
        from claimed c cross join alive e)
      select exists (select 1 from alive) as may_work,
        exists (select 1 from alive where places > 1 and slot is null) as is_full, c.id, c.attempts as attempt,
        c.scheduled_time, a.timeout_seconds, a.memory_mib, c.payload, c.payload_file_id, c.draft_script, c.traceparent,
        c.has_attempts and exists (select 1 from executor_job_step t where t.executor_job_id = c.id) as has_steps,
        greatest(0, extract(epoch from :now - greatest(c.created_at, c.not_before))) as queued_seconds, """
              + STORES
              + " as stores, "
              + FILES.formatted("c")
              + """

      from (select 1) one left join claimed c on true left join agent a on a.id = c.agent_id""");

  private static final String UNIQUE_VIOLATION = "23505";

  /** Each retry means that another claim succeeded, so there is progress in any case. */
  private static final int MOST_ATTEMPTS = 20;

  private static final Sql AGAIN =
      Sql.of(
          """
      select j.id, e.attempt, j.scheduled_time, a.timeout_seconds, a.memory_mib, j.payload, j.payload_file_id,
        j.draft_script, j.traceparent, exists (select 1 from executor_job_step t where t.executor_job_id = j.id) as has_steps, """
              + STORES
              + " as stores, "
              + FILES.formatted("j")
              + """

      from execution e join executor_job j on j.id = e.executor_job_id join agent a on a.id = e.agent_id
      where e.id = :execution""");

  private final EntityManager entities;
  private final Database database;
  private final RoostConfig config;
  private final Clock clock;
  private final ObjectMapper mapper;
  private final ExecutionCompletion endings;
  private final Storage storage;
  private final ExecutionMeters meters;
  private final Traces traces;
  private final LargeValues values;
  private final FrameIntake frames;

  JobClaimer(
      EntityManager entities,
      Database database,
      RoostConfig config,
      Clock clock,
      ObjectMapper mapper,
      ExecutionCompletion endings,
      Storage storage,
      ExecutionMeters meters,
      Traces traces,
      LargeValues values,
      FrameIntake frames) {
    this.entities = entities;
    this.database = database;
    this.config = config;
    this.clock = clock;
    this.mapper = mapper;
    this.endings = endings;
    this.storage = storage;
    this.meters = meters;
    this.traces = traces;
    this.values = values;
    this.frames = frames;
  }

  /**
   * An executor that may get a job of its revision.
   *
   * @param prepared whether the executor has the agent's script already
   * @param drafts whether the executor can run drafts, which those of earlier releases can't
   * @param requestsPerProcess how many executions it runs at the same time
   */
  public record Claimant(
      String executorId,
      String agentId,
      int agentRevision,
      boolean prepared,
      boolean drafts,
      int requestsPerProcess) {}

  /**
   * Claims the first waiting job of the executor's agent and revision, by priority, then by age;
   * none while the storage for payloads is full.
   *
   * @param cold whether it is the executor's first execution
   */
  public Claim next(Claimant claimant, boolean cold) {
    if (storage.isFull(Storage.Area.PAYLOADS)) {
      return new Claim(null, true, false, 0);
    }
    // Read before, so that nothing can fail between the claim and its answer.
    Work.AgentCode code = missingCode(claimant);
    for (int attempt = 1; ; attempt++) {
      try {
        Claim claim = claim(claimant, cold, code);
        if (claim.work() == null) {
          return claim;
        }
        begun(claim.queuedSeconds(), cold);
        Optional<Work> work = whole(claim.work());
        if (work.isPresent()) {
          return new Claim(work.get(), claim.mayWork(), claim.isFull(), claim.queuedSeconds());
        }
      } catch (RuntimeException e) {
        if (attempt == MOST_ATTEMPTS || !isTaken(e)) {
          throw e;
        }
      }
    }
  }

  /**
   * The work with its whole payload; empty if that is lost, which ends the Execution.
   *
   * @throws dev.roost.api.Problem unavailable: the executor's next poll tries it again
   */
  private Optional<Work> whole(Work work) {
    if (work.payloadFileId() == null) {
      return Optional.of(work);
    }
    Optional<Work> whole = values.read(work.payloadFileId()).map(work::withPayload);
    if (whole.isEmpty()) {
      Outcome outcome =
          new Outcome(
              ExecutionState.FAILED,
              ExecutionReason.PAYLOAD_LOST,
              "The file %s with the payload is not in the storage of files."
                  .formatted(work.payloadFileId()),
              null,
              null,
              false,
              null,
              null,
              clock.instant());
      frames.replay(work.executionId(), List.of(), null, outcome, false);
    }
    return whole;
  }

  /** Counts an Execution that has begun. */
  void begun(double queuedSeconds, boolean cold) {
    meters.claimed(queuedSeconds, cold);
  }

  /** The script and what belongs to it; null when the executor has it already. */
  Work.AgentCode missingCode(Claimant claimant) {
    return claimant.prepared()
        ? null
        : QuarkusTransaction.requiringNew().call(() -> code(claimant));
  }

  /** Whether another claim has taken the concurrency key, or given the executor an Execution. */
  static boolean isTaken(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && UNIQUE_VIOLATION.equals(sql.getSQLState())) {
        return true;
      }
    }
    return false;
  }

  /**
   * @param work null when there is none
   * @param queuedSeconds how long the job has waited
   * @param mayWork whether the executor may get work; false when it is stopping, is to free its
   *     capacity for another agent, exceeds the agent's max_concurrency, or was started with other
   *     settings than the agent has now
   * @param isFull whether it got nothing because the agent's max_concurrency is reached, or all
   *     places in its process are taken
   */
  public record Claim(Work work, boolean mayWork, boolean isFull, double queuedSeconds) {}

  private Claim claim(Claimant claimant, boolean cold, Work.AgentCode code) {
    Instant now = clock.instant();
    String executionId = Ids.next("exec");
    Sql.Bound claim =
        CLAIM
            .with("agent", claimant.agentId())
            .with("revision", claimant.agentRevision())
            .with("executor", claimant.executorId())
            .with("execution", executionId)
            .with("cold", cold)
            .with("drafts", claimant.drafts())
            .with("now", now);
    return database
        .once(
            connection ->
                claim.first(
                    connection,
                    row ->
                        new Claim(
                            row.getString("id") == null
                                ? null
                                : work(claimant, executionId, row, code),
                            row.getBoolean("may_work"),
                            row.getBoolean("is_full"),
                            row.getDouble("queued_seconds"))))
        .orElseThrow();
  }

  /**
   * Returns work that was given to this executor but did not arrive, as its poll shows: the answer
   * was lost. Otherwise the executor has ended that execution, or is regarded as having lost it.
   * Reads the database, since the last frame may have arrived through another replica.
   */
  public Optional<Work> handedOut(Claimant claimant, String executionId) {
    Forgotten forgotten =
        QuarkusTransaction.requiringNew().call(() -> readHandedOut(claimant, executionId));
    if (forgotten.outcome() != null) {
      Execution execution = forgotten.execution();
      meters.ended(
          execution.executorJobId, forgotten.outcome(), execution.enteredAt, execution.coldStart);
      traces.ended(execution.id);
    }
    return Optional.ofNullable(forgotten.work()).flatMap(this::whole);
  }

  /**
   * @param work to give to the executor again, or null
   * @param outcome of the execution that the executor has forgotten, or null
   */
  private record Forgotten(Work work, Execution execution, Outcome outcome) {}

  private Forgotten readHandedOut(Claimant claimant, String executionId) {
    Execution execution = Execution.findById(executionId);
    Outcome outcome = null;
    if (execution != null && !execution.hasEnded()) {
      if (execution.acknowledged == 0) {
        return new Forgotten(again(claimant, executionId), null, null);
      }
      outcome = Outcome.lost("The executor no longer has the execution.", clock.instant());
      endings.finish(executionId, Execution.Progress.NONE, outcome, true);
    }
    return new Forgotten(null, execution, outcome);
  }

  private Work again(Claimant claimant, String executionId) {
    Work.AgentCode code = claimant.prepared() ? null : code(claimant);
    return AGAIN
        .with("execution", executionId)
        .first(entities, row -> work(claimant, executionId, row, code))
        .orElseThrow();
  }

  /** The work of an Execution, from a row with the columns of a claim. */
  Work work(Claimant claimant, String executionId, ResultSet row, Work.AgentCode code)
      throws SQLException {
    return new Work(
        executionId,
        row.getString("id"),
        claimant.agentId(),
        row.getInt("attempt"),
        Sql.instant(row, "scheduled_time"),
        row.getDouble("timeout_seconds"),
        row.getInt("memory_mib"),
        row.getString("payload"),
        row.getString("payload_file_id"),
        list(row.getString("stores"), new TypeReference<List<Work.Store>>() {}),
        Work.Limits.of(config),
        traces.environment(row.getString("traceparent"), row.getString("id"), executionId),
        row.getString("draft_script"),
        row.getBoolean("has_steps"),
        list(row.getString("files"), new TypeReference<List<Work.File>>() {}),
        code);
  }

  private static Work.AgentCode code(Claimant claimant) {
    AgentRevision revision = AgentRevision.of(claimant.agentId(), claimant.agentRevision());
    return new Work.AgentCode(
        revision.revision,
        revision.script,
        revision.bundleId == null ? null : new Work.Bundle(revision.bundleId, revision.scriptPath),
        EnvVars.parse(revision.envVars).values(),
        claimant.requestsPerProcess() == 1 ? null : claimant.requestsPerProcess(),
        claimant.requestsPerProcess() == 1 ? preload(revision) : null,
        revision.hintsKnown ? null : true);
  }

  private static Work.Preload preload(AgentRevision revision) {
    Agent agent = Agent.findById(revision.agentId);
    if (agent.isolation.equals("pod")) {
      return null; // its executors have one execution each
    }
    return switch (revision.preload) {
      case OFF -> null;
      case AUTO ->
          new Work.Preload(Preloads.modules(revision.agentId, revision.revision).orElse(null));
    };
  }

  private <T> List<T> list(String json, TypeReference<List<T>> type) {
    try {
      return json == null ? List.of() : mapper.readValue(json, type);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
