package dev.roost.datastore;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Entries of a range, in the order of their keys.
 *
 * @param next the last key of these entries when more follow; otherwise null
 */
public record Scan(List<Entry> entries, String next) {
  /** The most bytes of values in one scan, unless a single value is larger. */
  private static final long MAX_BYTES = 4L << 20;

  /** Uses one statement, so the result is a consistent snapshot. */
  static Scan read(
      Connection connection, String storeId, Range range, int limit, boolean withValues)
      throws SQLException {
    Range.Condition condition = range.condition();
    try (PreparedStatement select =
        connection.prepareStatement(query(condition.sql(), withValues))) {
      int parameter = bind(select, storeId, condition);
      select.setInt(parameter, limit + 1);
      return of(select.executeQuery(), limit, withValues);
    }
  }

  /** Sets the parameters of a range's condition and returns the next parameter's number. */
  static int bind(PreparedStatement statement, String storeId, Range.Condition condition)
      throws SQLException {
    int parameter = 1;
    statement.setString(parameter++, storeId);
    for (byte[] bound : condition.bounds()) {
      statement.setBytes(parameter++, bound);
    }
    return parameter;
  }

  static String query(String where, boolean withValues) {
    String inRange =
        "select e.key, e.version, e.expires_at, e.updated_at"
            + (withValues ? ", e.value" : "")
            + " from datastore_entry e where "
            + where
            + " order by e.key limit ?";
    if (!withValues) {
      return "select i.*, count(*) over () as found from (" + inRange + ") i order by key";
    }
    // The running sum limits the memory of a page with large values.
    return """
        select * from (
          select i.*, count(*) over () as found,
            sum(octet_length(i.value)) over (order by i.key) - octet_length(i.value) as before
          from (%s) i) s
        where before < %d order by key"""
        .formatted(inRange, MAX_BYTES);
  }

  private static Scan of(ResultSet rows, int limit, boolean withValues) throws SQLException {
    List<Entry> entries = new ArrayList<>();
    long found = 0;
    while (entries.size() < limit && rows.next()) {
      entries.add(Entry.of(rows, withValues));
      found = rows.getLong("found");
    }
    boolean more = found > entries.size();
    return new Scan(entries, more ? entries.get(entries.size() - 1).key() : null);
  }
}
