package dev.roost.notification;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.time.Instant;

/** Deletes messages that ended long ago, with their notifications. */
public final class OldMessages {
  public static final int LIMIT = 500;

  public static final Sql DELETE =
      Sql.of(
          """
          delete from notification_message where id = any(array(
            select id from notification_message where finished_at < :before
            order by finished_at limit :limit for update skip locked))""");

  private OldMessages() {}

  public static void remove(ThrottledBatches batches, Instant before) {
    batches.steps(LIMIT, DELETE.with("before", before).with("limit", LIMIT)::update);
  }
}
