package dev.roost.event;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.time.Instant;
import java.util.Optional;

/**
 * Deletes old events in the order of their positions, after what depends on them. An event with a
 * pending delivery stays.
 */
public final class OldEvents {
  public static final int LIMIT = 1_000;

  /** The last of the next old events, up to the first event that is not old. */
  public static final Sql UPPER =
      Sql.of(
          """
          with next as (select position, time from event where position > :after order by position limit :limit)
          select max(position) as upper from next
          where position < coalesce((select min(position) from next where time >= :before), 9223372036854775807)""");

  public static final Sql DELETE =
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

  /** Deletes what depends on events, before them. */
  @FunctionalInterface
  public interface Dependents {
    /** Deletes what depends on the events of positions above {@code after}, up to {@code upper}. */
    void remove(ThrottledBatches batches, long after, long upper);
  }

  public static void remove(ThrottledBatches batches, Instant before, Dependents dependents) {
    remove(batches, 0, before, dependents);
  }

  /**
   * @param position events up to this one stay
   */
  public static void remove(
      ThrottledBatches batches, long position, Instant before, Dependents dependents) {
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
      dependents.remove(batches, after, upper.get());
      batches.step(DELETE.with("after", after).with("upper", upper.get())::update);
      after = upper.get();
    }
  }
}
