package dev.roost.search;

import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The tables of the index, each of a period of time. Chunks of new executions have numbers from 1
 * upwards, those of executions from before the index have numbers from −1 downwards; a table has
 * either. The caller holds the lock on {@code search_progress}.
 */
public final class SearchSegments {
  /** A period is this part of the time for which executions are kept, of 32 tables. */
  private static final int PERIODS = 24;

  /** The past leaves these to new executions. */
  private static final int RESERVED = 4;

  private static final Sql LOCK = Sql.of("select 1 from search_progress for update");

  private static final Sql ALL =
      Sql.of("select slot, first_id, last_id, oldest, newest from search_segment order by slot");

  private static final Sql EXTEND =
      Sql.of(
          """
          update search_segment set first_id = least(first_id, :first), last_id = greatest(last_id, :last),
            oldest = least(oldest, :oldest), newest = greatest(newest, :newest)
          where slot = :slot""");

  private static final Sql FREE =
      Sql.of(
          """
          update search_segment set first_id = null, last_id = null, oldest = null, newest = null
          where slot = :slot""");

  private SearchSegments() {}

  /** A table in use. */
  record Segment(int slot, long firstId, long lastId, Instant oldest, Instant newest) {}

  private record Slot(int slot, Segment segment) {}

  private static List<Slot> slots(Connection connection) throws SQLException {
    return ALL.with()
        .list(
            connection,
            row -> {
              int slot = row.getInt("slot");
              Instant oldest = Sql.instant(row, "oldest");
              return new Slot(
                  slot,
                  oldest == null
                      ? null
                      : new Segment(
                          slot,
                          row.getLong("first_id"),
                          row.getLong("last_id"),
                          oldest,
                          Sql.instant(row, "newest")));
            });
  }

  /** Those in use, the newest first. */
  static List<Segment> used(Connection connection) throws SQLException {
    return slots(connection).stream()
        .map(Slot::segment)
        .filter(segment -> segment != null)
        .sorted(Comparator.comparingLong(Segment::lastId).reversed())
        .toList();
  }

  /**
   * The table for chunks of that time.
   *
   * @param isPast whether they are of executions from before the index
   */
  static int slot(Connection connection, boolean isPast, Instant time, Duration retention)
      throws SQLException {
    Duration period = retention.dividedBy(PERIODS);
    List<Slot> slots = slots(connection);
    Optional<Segment> current =
        slots.stream()
            .map(Slot::segment)
            .filter(segment -> segment != null && segment.firstId() < 0 == isPast)
            .min(
                isPast
                    ? Comparator.comparingLong(Segment::firstId)
                    : Comparator.comparingLong(Segment::lastId).reversed());
    boolean fits =
        current
            .map(
                segment ->
                    isPast
                        ? segment.newest().minus(period).isBefore(time)
                        : segment.oldest().plus(period).isAfter(time))
            .orElse(false);
    List<Slot> free = slots.stream().filter(slot -> slot.segment() == null).toList();
    // Without a free table, for example after the retention was extended, a period is longer.
    if (current.isPresent() && (fits || free.size() <= (isPast ? RESERVED : 0))) {
      return current.get().slot();
    }
    return free.get(0).slot();
  }

  static void add(Connection connection, int slot, long firstId, List<Chunk> chunks)
      throws SQLException {
    Chunk.insert(connection, slot, firstId, chunks);
    EXTEND
        .with("slot", slot)
        .with("first", firstId)
        .with("last", firstId + chunks.size() - 1)
        .with("oldest", chunks.stream().map(Chunk::oldest).min(Comparator.naturalOrder()).get())
        .with("newest", chunks.stream().map(Chunk::newest).max(Comparator.naturalOrder()).get())
        .update(connection);
  }

  /** Empties the tables whose executions are all older: their files shrink to nothing. */
  public static void remove(ThrottledBatches batches, Instant before) {
    batches.step(connection -> remove(connection, before));
  }

  static int remove(Connection connection, Instant before) throws SQLException {
    LOCK.with().first(connection, row -> 1);
    int removed = 0;
    for (Segment segment : used(connection)) {
      if (segment.newest().isBefore(before)) {
        // Searches end within seconds; those that begin meanwhile wait for this.
        Sql.of("set local lock_timeout = '5s'").with().update(connection);
        Sql.of("truncate search_chunk_" + segment.slot()).with().update(connection);
        FREE.with("slot", segment.slot()).update(connection);
        removed++;
      }
    }
    return removed;
  }
}
