package dev.roost.execution;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.time.Instant;

/** Removes events that were sent to scripts long ago, whether one has received them or not. */
public final class OldJobEvents {
  /** An event may have some hundred kilobytes. */
  public static final int LIMIT = 500;

  public static final Sql DELETE =
      Sql.of(
          """
          delete from job_event where id = any(array(
            select id from job_event where expires_at < :now order by expires_at limit :limit for update skip locked))""");

  private OldJobEvents() {}

  public static void remove(ThrottledBatches batches, Instant now) {
    batches.steps(LIMIT, DELETE.with("now", now).with("limit", LIMIT)::update);
  }
}
