package dev.roost.execution;

import dev.roost.api.Ids;
import dev.roost.api.Json;
import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Submits the ExecutorJobs of many schedules and agents in one statement. */
public final class ScheduledJobs {
  /**
   * One statement decides the result of each request: a request takes space in its agent's queue
   * only if its job does not exist yet. The payload is copied from the schedule's row, since it may
   * be large.
   */
  private static final Sql INSERT =
      Sql.of(
          """
          with wanted as (
            select * from unnest(cast(:ids as text[]), cast(:schedules as text[]), cast(:agents as text[]),
              cast(:times as timestamptz[]), cast(:keys as text[]))
            with ordinality as w (id, schedule_id, agent_id, scheduled_time, concurrency_key, number)),
          agents as (
            select a.id, coalesce(a.running_revision, a.revision) as revision, :most - (
              select count(*) from executor_job q where q.agent_id = a.id and q.state = 'queued') as capacity
            from agent a where a.deleted_at is null and a.id in (select agent_id from wanted)),
          looked_up as (
            select w.*, a.revision, a.capacity, exists (
              select 1 from executor_job j
              where j.schedule_id = w.schedule_id and j.scheduled_time = w.scheduled_time) as present
            from wanted w left join agents a on a.id = w.agent_id),
          judged as (
            select l.*, l.present or capacity is null
                or count(*) filter (where not present) over (partition by agent_id order by number) <= capacity as fits
            from looked_up l),
          created as (
            insert into executor_job (id, agent_id, agent_revision, schedule_id, scheduled_time, payload, state,
              concurrency_key, created_at)
            select j.id, j.agent_id, j.revision, j.schedule_id, j.scheduled_time, s.payload, 'queued',
              j.concurrency_key, :now
            from judged j join schedule s on s.id = j.schedule_id
            where j.fits and not j.present and j.revision is not null
            order by j.number
            on conflict (schedule_id, scheduled_time) where schedule_id is not null do nothing
            returning id)
          select j.revision, j.fits, m.id is not null as created
          from judged j left join created m on m.id = j.id
          order by j.number""");

  private ScheduledJobs() {}

  /**
   * A request for the execution at a scheduled time.
   *
   * @param concurrencyKey or null
   */
  public record Request(
      String scheduleId, String agentId, Instant scheduledTime, String concurrencyKey) {}

  /** The result of a request. */
  public enum Result {
    CREATED,
    /**
     * A job for that schedule and time exists already, or the agent or the schedule doesn't exist.
     */
    REDUNDANT,
    /** The agent has the maximum number of queued jobs. */
    QUEUE_FULL
  }

  /**
   * @param executorJobId of the new job; null when none was created
   */
  public record Submitted(
      Request request, Result result, String executorJobId, int agentRevision) {}

  /**
   * Submits executions of the agents' running revisions, in the caller's transaction. After the
   * commit, the caller reports them to {@link QueuedJobs}.
   *
   * @param requests if the queue has capacity for some only, the first ones are submitted
   * @param most the maximum number of an agent's queued jobs
   * @return the result of each request, in the same order
   */
  public static List<Submitted> submit(
      Connection connection, List<Request> requests, int most, Instant now) throws SQLException {
    int size = requests.size();
    String[] ids = new String[size];
    String[] schedules = new String[size];
    String[] agents = new String[size];
    String[] times = new String[size];
    String[] keys = new String[size];
    for (int i = 0; i < size; i++) {
      Request request = requests.get(i);
      ids[i] = Ids.next("xjob");
      schedules[i] = request.scheduleId();
      agents[i] = request.agentId();
      times[i] = Json.time(request.scheduledTime());
      keys[i] = request.concurrencyKey();
    }
    List<Submitted> submitted = new ArrayList<>(size);
    INSERT
        .with("ids", ids)
        .with("schedules", schedules)
        .with("agents", agents)
        .with("times", times)
        .with("keys", keys)
        .with("most", most)
        .with("now", now)
        .list(
            connection,
            row -> submitted.add(read(row, requests.get(submitted.size()), ids[submitted.size()])));
    return submitted;
  }

  private static Submitted read(ResultSet row, Request request, String id) throws SQLException {
    boolean created = row.getBoolean("created");
    Result result =
        created ? Result.CREATED : row.getBoolean("fits") ? Result.REDUNDANT : Result.QUEUE_FULL;
    return new Submitted(request, result, created ? id : null, row.getInt("revision"));
  }
}
