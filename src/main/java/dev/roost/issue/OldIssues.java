package dev.roost.issue;

import dev.roost.api.Ids;
import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.time.Instant;
import java.util.List;

/**
 * Removes what is left of failures whose executions were deleted, and issues without a failure in
 * that time.
 */
public final class OldIssues {
  public static final int LIMIT = 1_000;

  // Identifiers sort by creation, so the primary keys find what is old.
  public static final Sql EXECUTIONS =
      Sql.of(
          """
          select execution_id from issue_execution where execution_id > :after and execution_id < :first
          order by execution_id limit :limit""");

  public static final Sql DELETE_EXECUTIONS =
      Sql.of(
          """
          delete from issue_execution i where i.execution_id = any(:ids)
            and not exists (select 1 from execution e where e.id = i.execution_id)""");

  public static final Sql REPLAYS =
      Sql.of(
          """
          select executor_job_id from issue_replay where executor_job_id > :after and executor_job_id < :first
          order by executor_job_id limit :limit""");

  public static final Sql DELETE_REPLAYS =
      Sql.of(
          """
          delete from issue_replay r where r.executor_job_id = any(:ids)
            and not exists (select 1 from executor_job j where j.id = r.executor_job_id)""");

  public static final Sql DELETE_HOURS =
      Sql.of(
          """
          delete from issue_hour where ctid = any(array(
            select ctid from issue_hour where hour < :before order by hour limit :limit
            for update skip locked))""");

  public static final Sql DELETE_ISSUES =
      Sql.of(
          """
          delete from issue where id in (
            select i.id from issue i where i.last_seen_at < :before
              and not exists (select 1 from issue_execution x where x.issue_id = i.id)
            limit :limit for update skip locked)""");

  private OldIssues() {}

  public static void remove(ThrottledBatches batches, Instant before) {
    removeOrphans(batches, EXECUTIONS, DELETE_EXECUTIONS, Ids.first("exec", before));
    removeOrphans(batches, REPLAYS, DELETE_REPLAYS, Ids.first("xjob", before));
    batches.steps(LIMIT, DELETE_HOURS.with("before", before).with("limit", LIMIT)::update);
    batches.steps(LIMIT, DELETE_ISSUES.with("before", before).with("limit", LIMIT)::update);
  }

  private static void removeOrphans(
      ThrottledBatches batches, Sql select, Sql delete, String first) {
    String after = "";
    while (true) {
      Sql.Bound next = select.with("after", after).with("first", first).with("limit", LIMIT);
      List<String> ids = batches.step(connection -> next.strings(connection));
      if (ids.isEmpty()) {
        return;
      }
      batches.step(delete.with("ids", ids.toArray(String[]::new))::update);
      after = ids.get(ids.size() - 1);
    }
  }
}
