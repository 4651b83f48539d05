package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Jobs that scripts submit and wait for. A call is an entry of the caller's history, whose outcome
 * is that of the job.
 */
@ApplicationScoped
class JobCalls {
  private static final int MOST_AGENT_CHARACTERS = 255;

  private static final Sql CALLER =
      Sql.of(
          "with "
              + JobSteps.OWNER
              + " select j.id, j.depth, j.traceparent from owner o join executor_job j on j.id = o.job");

  private static final Sql AGENT =
      Sql.of(
          """
          select id from agent where (id = :agent or name = :agent) and deleted_at is null
          order by id = :agent desc limit 1""");

  /**
   * Whether a job with this key would wait for one that waits for the caller. A job waits for those
   * that it has called, and while it is queued, for the one that holds its key.
   */
  private static final Sql CIRCLE =
      Sql.of(
          """
          with recursive callers as (
            select id, parent_id from executor_job where id = :caller
            union
            select p.id, p.parent_id from executor_job p join callers c on p.id = c.parent_id),
          awaited as (
            select h.id, h.state, h.agent_id, h.concurrency_key, h.id as holder from executor_job h
            where h.agent_id = :agent and h.concurrency_key = :key and """
              + HeldKeys.HOLDS
              + """

            union
            select n.id, n.state, n.agent_id, n.concurrency_key, w.holder from awaited w
            cross join lateral (
              select c.id, c.state, c.agent_id, c.concurrency_key from executor_job c
              where c.parent_id = w.id and c.finished_at is null
              union all
              select h.id, h.state, h.agent_id, h.concurrency_key from executor_job h
              where w.state = 'queued' and h.agent_id = w.agent_id
                and h.concurrency_key = w.concurrency_key and h.id <> w.id and """
              + HeldKeys.HOLDS
              + """
              ) n)
          select w.holder from awaited w join callers c on c.id = w.id limit 1""");

  private static final Sql SAVE =
      Sql.of(
          "with "
              + JobSteps.OWNER
              + """
              ,
              saved as (
                insert into executor_job_step (executor_job_id, seq, path, name, execution_id, attempts, seconds,
                  finished_at, kind, called_job_id, total_bytes)
                select o.job, :seq, :path, :name, :execution, 1, 0, statement_timestamp(), 'call', :called,
                  coalesce(b.total_bytes, 0)
                from owner o left join executor_job_step b on b.executor_job_id = o.job and b.seq = :seq - 1
                where :seq = 1 or b.seq is not null
                on conflict do nothing returning executor_job_id),
              parent as (
                update executor_job p set has_calls = true from saved s
                where p.id = s.executor_job_id and not p.has_calls)
              select exists (select from saved) as saved, exists (select from owner) as granted""");

  /**
   * The outcome of jobs that have ended becomes that of the calls. The exception is one that the
   * executor can create again: {@code CallFailed} of its {@code step_errors.py}, with these
   * arguments and this message.
   */
  private static final String RESOLVE =
      """
      update executor_job_step s set
        result = case when c.state = 'succeeded' then coalesce(e.return_value, 'null') end,
        error_type = case when c.state <> 'succeeded' then 'roost_executor.script.step_errors.CallFailed' end,
        error_message = case when c.state <> 'succeeded' then
          'the job ' || c.id || case c.state when 'failed' then ' failed' else ' was cancelled' end
          || coalesce(': ' || nullif(c.message, ''), '') end,
        error_arguments = case when c.state <> 'succeeded' then
          json_build_array(c.id, c.state, c.reason, c.message)::text end,
        finished_at = c.finished_at,
        seconds = extract(epoch from c.finished_at - c.created_at)
      from executor_job c left join execution e on e.id = c.latest_execution_id
      where s.executor_job_id = any(%s) and s.kind = 'call' and s.result is null and s.error_type is null
        and c.id = s.called_job_id and c.finished_at is not null""";

  /** For the jobs whose calls have ended. */
  static final Sql RESOLVE_CALLS = Sql.of(RESOLVE.formatted(":callers"));

  /** The time-out of a wait for an event, unless an event comes first. */
  private static final String EXPIRE =
      """
      update executor_job_step s set
        error_type = 'roost_executor.script.step_errors.WaitTimeout',
        error_message = t.message, error_arguments = json_build_array(t.message)::text,
        seconds = extract(epoch from now() - s.finished_at), finished_at = now()
      from owner o, executor_job_step w, lateral (
        select case w.kind when 'approval' then 'nobody has decided in time: ' || w.name
          else 'no event ' || w.event_name || coalesce(' with the key ' || w.event_key, '') || ' came in time' end
          as message) t
      where w.executor_job_id = o.job and w.seq = any(:seqs) and w.kind in ('event', 'approval') and w.until <= now()
        and s.executor_job_id = w.executor_job_id and s.seq = w.seq and s.result is null and s.error_type is null
      returning s.seq, s.result, s.error_type, s.error_message, s.error_arguments, s.approval_id""";

  private static final Sql OUTCOMES =
      Sql.of(
          "with "
              + JobSteps.OWNER
              + ", expired as ("
              + EXPIRE
              + "), undecided as ("
              + """
              update approval a set state = 'expired', decided_at = now() from expired e
              where a.id = e.approval_id and a.state = 'pending'"""
              + "), resolved as ("
              + RESOLVE.formatted("array(select job from owner)")
              + """
               returning s.seq, s.result, s.error_type, s.error_message, s.error_arguments),
              outcomes as (
                select * from resolved
                union all
                select x.seq, x.result, x.error_type, x.error_message, x.error_arguments from expired x
                union all
                select s.seq, s.result, s.error_type, s.error_message, s.error_arguments
                from executor_job_step s join owner o on o.job = s.executor_job_id
                where s.result is not null or s.error_type is not null)
              select exists (select from owner) as granted, f.*
              from (select 1) one left join outcomes f on f.seq = any(:seqs) order by f.seq""");

  private final Database database;
  private final RoostConfig config;
  private final ExecutorJobs jobs;
  private final JobSteps steps;

  JobCalls(Database database, RoostConfig config, ExecutorJobs jobs, JobSteps steps) {
    this.database = database;
    this.config = config;
    this.jobs = jobs;
    this.steps = steps;
  }

  private record Caller(String id, int depth, String trace) {
    static Caller read(ResultSet row) throws SQLException {
      return new Caller(row.getString("id"), row.getInt("depth"), row.getString("traceparent"));
    }
  }

  /**
   * Submits a job for a script that waits for it. Repeating it submits nothing.
   *
   * @throws Problem not_found, queue_full, storage_full, too_large, validation_failed, fenced,
   *     conflict
   */
  Object call(String executorId, String executionId, Body body) {
    JobSteps.Place place = steps.place(body);
    String agent = JobSteps.text(body, "agent", MOST_AGENT_CHARACTERS).orElse(null);
    int sizeBytes = body.sizeBytes("payload");
    JsonText payload = body.json("payload").orElse(null);
    Options options = Options.read(body);
    body.require("agent");
    body.check();
    ExecuteResource.checkSize("payload", sizeBytes, config);
    Sql.Bound select = CALLER.with("execution", executionId).with("executor", executorId);
    Caller caller = database.once(c -> select.first(c, Caller::read)).orElseThrow(JobSteps::fenced);
    if (caller.depth() >= config.limits().callDepth()) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          ("This job is the %,dth of jobs that call each other, and that is the limit (setting "
                  + "roost.limits.call-depth). Do the agents call each other in a circle?")
              .formatted(caller.depth() + 1));
    }
    String agentId =
        database
            .once(c -> AGENT.with("agent", agent).first(c, row -> row.getString("id")))
            .orElseThrow(() -> noAgent(agent));
    requireNoCircle(caller.id(), agentId, options.concurrencyKey());
    String key =
        "call-"
            + HexFormat.of()
                .formatHex(Text.sha256(caller.id() + " " + place.seq() + " " + place.path()));
    ExecutorJobs.Submitted submitted =
        jobs.submit(
            NewJob.calledBy(caller.id(), caller.depth() + 1),
            agentId,
            payload,
            options,
            key,
            caller.trace());
    Sql.Bound save =
        SAVE.with("execution", executionId)
            .with("executor", executorId)
            .with("seq", place.seq())
            .with("path", place.path())
            .with("name", place.name())
            .with("called", submitted.executorJobId());
    try {
      steps.store(save, executionId, place.seq(), place.path(), 0);
    } catch (Problem e) {
      if (!submitted.repeated()) {
        jobs.cancel(submitted.executorJobId());
      }
      throw e;
    }
    return Map.of("executor_job_id", submitted.executorJobId());
  }

  /**
   * Two calls at the same moment don't see each other, and may still close a circle; cancelling one
   * of the jobs ends it.
   */
  private void requireNoCircle(String caller, String agentId, String key) {
    if (key == null) {
      return;
    }
    Sql.Bound select = CIRCLE.with("caller", caller).with("agent", agentId).with("key", key);
    database
        .once(connection -> select.first(connection, row -> row.getString("holder")))
        .ifPresent(
            holder -> {
              throw Problem.of(
                  ErrorCode.VALIDATION_FAILED,
                  ("The called job would never start: the job %s holds the concurrency key %s until it "
                          + "ends, and waits for this call. Call with another key, or set the agent's "
                          + "concurrency_key_scope to execution.")
                      .formatted(holder, Text.quote(key)));
            });
  }

  /** Not "not found", which executors retry: a replica of an earlier release knows no calls. */
  private static Problem noAgent(String agent) {
    return Problem.of(
        ErrorCode.VALIDATION_FAILED, "There is no agent with the name or ID %s.".formatted(agent));
  }

  /** The outcome of a call. */
  private record Outcome(int seq, String result, JobSteps.Failure error) {
    static Outcome read(ResultSet row) throws SQLException {
      return new Outcome(row.getInt("seq"), row.getString("result"), JobSteps.Failure.read(row));
    }
  }

  /** Those of the waits with these numbers that are over. */
  Object outcomes(String executorId, String executionId, Body body) {
    body.require("waits");
    Integer[] numbers =
        body.objects("waits", wait -> wait.integer("seq", 1, Integer.MAX_VALUE).orElse(null))
            .orElse(List.of())
            .toArray(Integer[]::new);
    body.check();
    Sql.Bound select =
        OUTCOMES.with("execution", executionId).with("executor", executorId).with("seqs", numbers);
    List<Outcome> outcomes =
        database.once(
            connection ->
                select.list(
                    connection,
                    row -> {
                      if (!row.getBoolean("granted")) {
                        throw JobSteps.fenced();
                      }
                      return Outcome.read(row);
                    }));
    return Map.of("outcomes", outcomes.stream().filter(outcome -> outcome.seq() > 0).toList());
  }
}
