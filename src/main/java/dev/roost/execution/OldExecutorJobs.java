package dev.roost.execution;

import dev.roost.api.Ids;
import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import dev.roost.log.OldLogs;
import java.time.Instant;
import java.util.List;

/** Removes ExecutorJobs that ended long ago, with their Executions and logs. */
public final class OldExecutorJobs {
  /** A payload and a return value may have some megabytes. */
  public static final int LIMIT = 100;

  // Identifiers sort by creation, so the primary key finds what is old.
  public static final Sql OLD =
      Sql.of(
          """
          select id from executor_job where id > :after and id < :first and finished_at < :before
          order by id limit :limit""");

  public static final Sql EXECUTIONS =
      Sql.of("select id from execution where executor_job_id = any(:jobs)");

  /** A job may have some thousand steps. */
  public static final Sql STEPS =
      Sql.of(
          """
          delete from executor_job_step where ctid = any(array(
            select ctid from executor_job_step where executor_job_id = any(:jobs) limit :limit for update skip locked))""");

  /** An attempt may have some thousand chunks of up to a megabyte. */
  public static final Sql STREAMS =
      Sql.of(
          """
          delete from stream_chunk where ctid = any(array(
            select ctid from stream_chunk where executor_job_id = any(:jobs) limit :limit for update skip locked))""");

  /** A job may have a thousand artifacts; the files are removed by what removes unused ones. */
  public static final Sql FILES =
      Sql.of(
          """
          delete from job_file where ctid = any(array(
            select ctid from job_file where executor_job_id = any(:jobs) limit :limit for update skip locked))""");

  /** A job whose log was skipped, since it is locked, stays until the next pass. */
  public static final Sql DELETE =
      Sql.of(
          """
          with free as (
            select j.id from executor_job j where j.id = any(:jobs) and j.finished_at < :before and not exists (
              select 1 from execution e join log_entry l on l.owner_id = e.id where e.executor_job_id = j.id)
            for update skip locked),
          attempts as (delete from execution where executor_job_id = any(array(select id from free)))
          delete from executor_job where id = any(array(select id from free))""");

  private OldExecutorJobs() {}

  /** Returns the number of removed jobs. */
  public static long remove(ThrottledBatches batches, Instant before) {
    String after = "";
    long removed = 0;
    while (true) {
      Sql.Bound select =
          OLD.with("after", after)
              .with("first", Ids.first("xjob", before))
              .with("before", before)
              .with("limit", LIMIT);
      List<String> old = batches.step(connection -> select.strings(connection));
      if (old.isEmpty()) {
        return removed;
      }
      String[] jobs = old.toArray(String[]::new);
      Sql.Bound executions = EXECUTIONS.with("jobs", jobs);
      OldLogs.remove(batches, batches.step(connection -> executions.strings(connection)));
      Sql.Bound steps = STEPS.with("jobs", jobs).with("limit", OldLogs.LIMIT);
      batches.steps(OldLogs.LIMIT, steps::update);
      Sql.Bound streams = STREAMS.with("jobs", jobs).with("limit", LIMIT);
      batches.steps(LIMIT, streams::update);
      Sql.Bound files = FILES.with("jobs", jobs).with("limit", OldLogs.LIMIT);
      batches.steps(OldLogs.LIMIT, files::update);
      Sql.Bound delete = DELETE.with("jobs", jobs).with("before", before);
      removed += batches.step(delete::update);
      after = old.get(old.size() - 1);
    }
  }
}
