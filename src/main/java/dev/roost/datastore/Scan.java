package dev.roost.datastore;

import dev.roost.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Entries of a range, in the order of their keys.
 *
 * @param next the last key of these entries when more follow; otherwise null
 */
public record Scan(List<Entry> entries, String next) {
  /** The most bytes of values in one scan, unless a single value is larger. */
  private static final long MAX_BYTES = 4L << 20;

  static final Sql KEYS =
      Sql.of(
          """
          select i.*, count(*) over () as found
          from (
            select e.key, e.version, e.expires_at, e.updated_at from datastore_entry e
            where e.store_id = :store and e.key >= :from and e.key < :to
              and (e.expires_at is null or e.expires_at > statement_timestamp())
            order by e.key limit :limit
          ) i
          order by key
          """);

  /** The running sum limits the memory of a page with large values. */
  static final Sql VALUES =
      Sql.of(
          """
          select * from (
            select i.*, count(*) over () as found,
              sum(octet_length(i.value)) over (order by i.key) - octet_length(i.value) as before
            from (
              select e.key, e.version, e.expires_at, e.updated_at, e.value from datastore_entry e
              where e.store_id = :store and e.key >= :from and e.key < :to
                and (e.expires_at is null or e.expires_at > statement_timestamp())
              order by e.key limit :limit
            ) i
          ) s
          where before < :maxBytes order by key
          """);

  private record Found(Entry entry, long count) {}

  /** Uses one statement, so the result is a consistent snapshot. */
  static Scan read(
      Connection connection, String storeId, Range range, int limit, boolean withValues)
      throws SQLException {
    Sql.Bound select = range.bind(withValues ? VALUES : KEYS, storeId).with("limit", limit + 1);
    if (withValues) {
      select.with("maxBytes", MAX_BYTES);
    }
    List<Found> found =
        select.list(connection, row -> new Found(Entry.of(row, withValues), row.getLong("found")));
    List<Entry> entries = found.stream().limit(limit).map(Found::entry).toList();
    boolean more = !entries.isEmpty() && found.get(0).count() > entries.size();
    return new Scan(entries, more ? entries.get(entries.size() - 1).key() : null);
  }
}
