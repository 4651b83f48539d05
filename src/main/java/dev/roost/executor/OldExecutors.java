package dev.roost.executor;

import dev.roost.api.Ids;
import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.time.Instant;
import java.util.List;

/** Deletes executors that ended long ago. */
public final class OldExecutors {
  public static final int LIMIT = 100;

  /** Executors that Executions refer to stay: they show which Builds are still in use. */
  public static final Sql DELETE_EXECUTORS =
      Sql.of(
          """
          with old as (
            select x.id from executor x
            where x.id > :after and x.id < :first and x.state = 'ended' and x.ended_at < :before
              and not exists (select 1 from execution e where e.executor_id = x.id)
            order by x.id limit :limit for update skip locked)
          delete from executor where id = any(array(select id from old)) returning id""");

  private OldExecutors() {}

  public static void remove(ThrottledBatches batches, Instant before) {
    String after = "";
    List<String> removed;
    do {
      Sql.Bound delete =
          DELETE_EXECUTORS
              .with("after", after)
              .with("first", Ids.first("executor", before))
              .with("before", before)
              .with("limit", LIMIT);
      removed = batches.step(connection -> delete.strings(connection));
      after = removed.stream().max(String::compareTo).orElse("");
    } while (removed.size() == LIMIT);
  }
}
