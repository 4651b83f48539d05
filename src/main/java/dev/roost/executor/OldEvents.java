package dev.roost.executor;

import dev.roost.db.Sql;
import java.time.Instant;
import java.util.Optional;

/**
 * Removes old events in the order of their positions, and their finished webhook deliveries.
 * Pending deliveries and their events stay.
 */
final class OldEvents {
  static final int LIMIT = 1_000;

  /** The last of the next old events, up to the first event that is not old. */
  static final Sql UPPER =
      Sql.of(
          """
          with next as (select position, time from event where position > :after order by position limit :limit)
          select max(position) as upper from next
          where position < coalesce((select min(position) from next where time >= :before), 9223372036854775807)""");

  static final Sql DELETE_DELIVERIES =
      Sql.of(
          """
          delete from webhook_delivery where ctid = any(array(
            select ctid from webhook_delivery where position > :after and position <= :upper and state <> 'pending'
            limit :limit for update skip locked))""");

  static final Sql DELETE =
      Sql.of(
          """
          with gone as (
            delete from event e where e.position > :after and e.position <= :upper
              and e.position <> all(array(
                select d.position from webhook_delivery d where d.position > :after and d.position <= :upper))
            returning e.position)
          update event_log set removed_to = greatest(removed_to, (select max(position) from gone))
          where exists (select 1 from gone)""");

  private OldEvents() {}

  static void remove(ThrottledBatches batches, Instant before) {
    remove(batches, 0, before);
  }

  /**
   * @param position events up to this one stay
   */
  static void remove(ThrottledBatches batches, long position, Instant before) {
    long after = position;
    while (true) {
      Sql.Bound next = UPPER.with("after", after).with("before", before).with("limit", LIMIT);
      Optional<Long> upper =
          batches
              .step(
                  connection ->
                      next.first(
                          connection,
                          row -> Optional.ofNullable(row.getObject("upper", Long.class))))
              .orElseThrow();
      if (upper.isEmpty()) {
        return;
      }
      Sql.Bound deliveries =
          DELETE_DELIVERIES.with("after", after).with("upper", upper.get()).with("limit", LIMIT);
      batches.steps(LIMIT, deliveries::update);
      batches.step(DELETE.with("after", after).with("upper", upper.get())::update);
      after = upper.get();
    }
  }
}
