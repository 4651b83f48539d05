package dev.roost.execution;

import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;

/**
 * Creates a job together with its first Execution, for an executor that waits already: one
 * statement, and one commit, instead of two.
 */
@ApplicationScoped
class ImmediateJobs {
  /**
   * Like the insert of {@link ExecutorJobs} followed by the claim of {@link JobClaimer}. The job is
   * queued instead if others are queued, which come first or need executors of another revision; if
   * a new revision runs now; or if the executor may not get work.
   */
  private static final Sql CREATE =
      Sql.of(
          "with "
              + JobClaimer.ALIVE
              + """
              ,
              target as (
                select a.id, coalesce(a.running_revision, a.revision) as revision,
                  (select count(*) from executor_job q where q.agent_id = a.id and q.state = 'queued') as waiting
                from agent a where a.id = :agent and a.deleted_at is null
                  and (cast(:checked as int) is null or coalesce(a.running_revision, a.revision) = :checked)),
              created as (
                insert into executor_job (id, agent_id, agent_revision, schedule_id, payload, priority, state, attempts,
                  latest_execution_id, idempotency_key, request_sha256, traceparent, parent_id, depth, created_at)
                select :id, t.id, t.revision, cast(:schedule as text), cast(:payload as text), :priority,
                  case when s.starts then 'running' else 'queued' end, case when s.starts then 1 else 0 end,
                  case when s.starts then cast(:execution as text) end, cast(:key as text), :digest,
                  cast(:trace as text), cast(:parent as text), :depth, :now
                from target t cross join lateral (
                  select t.waiting = 0 and t.revision = :revision and exists (
                    select 1 from alive where """
              + JobClaimer.FREE
              + """
                  ) as starts) s
                where :most > t.waiting
                on conflict (agent_id, idempotency_key) where idempotency_key is not null do nothing
                returning *),
              started as (
                insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, slot, attempt,
                  state, started_at, cold_start, queued_seconds)
                select c.latest_execution_id, c.id, c.agent_id, c.agent_revision, e.build_id, e.id, e.slot, c.attempts,
                  'running', :now, :cold, 0
                from created c cross join alive e where c.state = 'running')
              select c.agent_revision, c.state = 'running' as has_started, c.id, c.attempts as attempt, c.scheduled_time,
                a.timeout_seconds, a.memory_mib, c.payload, c.payload_file_id, c.draft_script, c.traceparent, false as has_steps, null as files,\s"""
              + JobClaimer.STORES
              + """
               as stores
              from created c join agent a on a.id = c.agent_id""");

  /** Each retry means that another claim succeeded, so there is progress in any case. */
  private static final int MOST_ATTEMPTS = 20;

  private final Database database;
  private final JobClaimer claims;

  ImmediateJobs(Database database, JobClaimer claims) {
    this.database = database;
    this.claims = claims;
  }

  /** The parameters of {@link ExecutorJobs} are to be bound to it. */
  static Sql statement() {
    return CREATE;
  }

  /**
   * @param agentRevision that the job runs
   * @param work of its first Execution, which has begun; null: the job is queued
   */
  private record Created(int agentRevision, Work work) {}

  /**
   * Creates a job and gives it to the executor if it may begin at once.
   *
   * @param insert {@link #statement} with the parameters of the job
   * @return empty when the agent doesn't exist, its queue is full or the key was used
   */
  Optional<ExecutorJobs.Inserted> create(
      NewJob job, Sql.Bound insert, WaitingExecutors.Reserved executor) {
    Optional<Created> created;
    try {
      created = createOrAgain(job, insert, executor.claimant(), executor.cold());
    } catch (RuntimeException e) {
      executor.pollAgain();
      throw e;
    }
    Work work = created.map(Created::work).orElse(null);
    if (work == null) {
      executor.release();
    } else {
      claims.begun(0, executor.cold());
      executor.give(work);
    }
    return created.map(
        result -> new ExecutorJobs.Inserted(result.agentRevision(), result.work() != null));
  }

  /** A concurrent claim may take the same slot of an agent with several requests per process. */
  private Optional<Created> createOrAgain(
      NewJob job, Sql.Bound insert, JobClaimer.Claimant claimant, boolean cold) {
    int most = claimant.requestsPerProcess() == 1 ? 1 : MOST_ATTEMPTS;
    for (int attempt = 1; ; attempt++) {
      try {
        return create(job, insert, claimant, cold);
      } catch (RuntimeException e) {
        if (attempt == most || !JobClaimer.isTaken(e)) {
          throw e;
        }
      }
    }
  }

  private Optional<Created> create(
      NewJob job, Sql.Bound insert, JobClaimer.Claimant claimant, boolean cold) {
    // Read before, so that nothing can fail between the claim and its answer.
    Work.AgentCode code = claims.missingCode(claimant);
    Sql.Bound bound =
        insert
            .with("executor", claimant.executorId())
            .with("revision", claimant.agentRevision())
            .with("execution", job.executionId())
            .with("cold", cold);
    return database.once(
        connection ->
            bound.first(
                connection,
                row ->
                    new Created(
                        row.getInt("agent_revision"),
                        row.getBoolean("has_started")
                            ? claims.work(claimant, job.executionId(), row, code)
                            : null)));
  }
}
