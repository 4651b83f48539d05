package dev.roost.datastore;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of a store, in the order of the keys (by code point).
 *
 * @param next the last key of these entries, when more follow it; otherwise null
 */
public record Scan(List<Entry> entries, String next) {
  /** Bytes of the values that one scan returns at most, unless a single value is larger. */
  private static final long MAX_BYTES = 4L << 20;

  /**
   * Which entries to read.
   *
   * @param prefix only keys that begin so; "" for all
   * @param start only this key and those after it; null: all
   * @param after only keys after this one; null: all
   * @param limit entries at most; there may be fewer even when more follow, see {@link Scan#next}
   * @param withValues whether to read the values, too
   */
  public record Range(String prefix, String start, String after, int limit, boolean withValues) {}

  static Scan read(Connection connection, String storeId, Range range) throws SQLException {
    StringBuilder where = new StringBuilder("e.store_id = ? and ").append(Entries.LIVE);
    List<byte[]> bounds = new ArrayList<>();
    if (!range.prefix().isEmpty()) {
      byte[] prefix = EntryKey.bound("prefix", range.prefix());
      where.append(" and e.key >= ? and e.key < ?");
      bounds.add(prefix);
      bounds.add(EntryKey.afterPrefix(prefix));
    }
    if (range.start() != null) {
      where.append(" and e.key >= ?");
      bounds.add(EntryKey.bound("start", range.start()));
    }
    if (range.after() != null) {
      where.append(" and e.key > ?");
      bounds.add(EntryKey.bound("after", range.after()));
    }
    try (PreparedStatement select = connection.prepareStatement(query(where, range.withValues()))) {
      int parameter = 1;
      select.setString(parameter++, storeId);
      for (byte[] bound : bounds) {
        select.setBytes(parameter++, bound);
      }
      select.setInt(parameter, range.limit() + 1);
      return of(select.executeQuery(), range);
    }
  }

  private static String query(CharSequence where, boolean withValues) {
    String inRange =
        "select e.key, e.version, e.expires_at, e.updated_at"
            + (withValues ? ", e.value" : "")
            + " from datastore_entry e where "
            + where
            + " order by e.key limit ?";
    if (!withValues) {
      return "select i.*, count(*) over () as found from (" + inRange + ") i order by key";
    }
    // The running sum keeps a page of large values from filling the memory.
    return """
        select * from (
          select i.*, count(*) over () as found,
            sum(octet_length(i.value)) over (order by i.key) - octet_length(i.value) as before
          from (%s) i) s
        where before < %d order by key"""
        .formatted(inRange, MAX_BYTES);
  }

  private static Scan of(ResultSet rows, Range range) throws SQLException {
    List<Entry> entries = new ArrayList<>();
    long found = 0;
    while (entries.size() < range.limit() && rows.next()) {
      entries.add(Entry.of(rows, range.withValues()));
      found = rows.getLong("found");
    }
    boolean more = found > entries.size();
    return new Scan(entries, more ? entries.get(entries.size() - 1).key() : null);
  }
}
