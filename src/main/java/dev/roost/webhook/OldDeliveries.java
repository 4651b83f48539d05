package dev.roost.webhook;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;

/** Deletes deliveries of old events, except for pending ones. */
public final class OldDeliveries {
  public static final int LIMIT = 1_000;

  public static final Sql DELETE =
      Sql.of(
          """
          delete from webhook_delivery where ctid = any(array(
            select ctid from webhook_delivery where position > :after and position <= :upper and state <> 'pending'
            limit :limit for update skip locked))""");

  private OldDeliveries() {}

  /** Deletes those of events of positions above {@code after}, up to {@code upper}. */
  public static void remove(ThrottledBatches batches, long after, long upper) {
    batches.steps(
        LIMIT, DELETE.with("after", after).with("upper", upper).with("limit", LIMIT)::update);
  }
}
