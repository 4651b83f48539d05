package dev.roost.executor;

import dev.roost.api.Ids;
import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/** Removes ExecutorJobs that ended long ago, with their Executions and logs; then executors. */
final class OldExecutorJobs {
  /** A payload and a return value may have some megabytes each. */
  static final int LIMIT = 100;

  // Identifiers sort by creation, so the primary key finds what is old.
  static final Sql OLD =
      Sql.of(
          """
          select id from executor_job where id > :after and id < :first and finished_at < :before
          order by id limit :limit""");

  static final Sql EXECUTIONS =
      Sql.of("select id from execution where executor_job_id = any(:jobs)");

  /** A job whose log was skipped, since it is locked, stays until the next pass. */
  static final Sql DELETE =
      Sql.of(
          """
          with free as (
            select j.id from executor_job j where j.id = any(:jobs) and j.finished_at < :before and not exists (
              select 1 from execution e join log_entry l on l.owner_id = e.id where e.executor_job_id = j.id)
            for update skip locked),
          attempts as (delete from execution where executor_job_id = any(array(select id from free)))
          delete from executor_job where id = any(array(select id from free))""");

  /** Executors that Executions refer to stay: they show which Builds are still in use. */
  static final Sql DELETE_EXECUTORS =
      Sql.of(
          """
          with old as (
            select x.id from executor x
            where x.id > :after and x.id < :first and x.state = 'ended' and x.ended_at < :before
              and not exists (select 1 from execution e where e.executor_id = x.id)
            order by x.id limit :limit for update skip locked)
          delete from executor where id = any(array(select id from old)) returning id""");

  private OldExecutorJobs() {}

  /** Returns the number of removed jobs. */
  static long remove(ThrottledBatches batches, Instant before) {
    String after = "";
    long removed = 0;
    while (true) {
      Sql.Bound select =
          OLD.with("after", after)
              .with("first", Ids.first("xjob", before))
              .with("before", before)
              .with("limit", LIMIT);
      List<String> old = batches.step(connection -> ids(connection, select));
      if (old.isEmpty()) {
        return removed;
      }
      String[] jobs = old.toArray(String[]::new);
      Sql.Bound executions = EXECUTIONS.with("jobs", jobs);
      OldLogs.remove(batches, batches.step(connection -> ids(connection, executions)));
      Sql.Bound delete = DELETE.with("jobs", jobs).with("before", before);
      removed += batches.step(delete::update);
      after = old.get(old.size() - 1);
    }
  }

  static void removeExecutors(ThrottledBatches batches, Instant before) {
    String after = "";
    List<String> removed;
    do {
      Sql.Bound delete =
          DELETE_EXECUTORS
              .with("after", after)
              .with("first", Ids.first("executor", before))
              .with("before", before)
              .with("limit", LIMIT);
      removed = batches.step(connection -> ids(connection, delete));
      after = removed.stream().max(String::compareTo).orElse("");
    } while (removed.size() == LIMIT);
  }

  static List<String> ids(Connection connection, Sql.Bound query) throws SQLException {
    return query.list(connection, row -> row.getString(1));
  }
}
