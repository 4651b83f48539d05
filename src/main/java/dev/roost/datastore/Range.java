package dev.roost.datastore;

import dev.roost.api.Body;
import java.util.ArrayList;
import java.util.List;

/**
 * A range of keys, in the order of their code points.
 *
 * @param prefix only keys with this prefix; "" for all
 * @param start only this key and those after it; null: all
 * @param after only keys after this one; null: all
 * @param through only this key and those before it; null: all
 */
public record Range(String prefix, String start, String after, String through) {
  public static final Range ALL = new Range("", null, null, null);

  /** Reads a range, and adds errors to the body. */
  static Range of(Body body) {
    return new Range(
        body.anyString("prefix").orElse(""),
        body.anyString("start").orElse(null),
        body.anyString("after").orElse(null),
        body.anyString("through").orElse(null));
  }

  /**
   * A condition on a row {@code e} of the store, which is the first parameter.
   *
   * @param sql its other parameters are the bounds
   */
  record Condition(String sql, List<byte[]> bounds) {}

  /**
   * @throws dev.roost.api.Problem validation_failed: not Unicode
   */
  Condition condition() {
    StringBuilder sql = new StringBuilder("e.store_id = ? and ").append(Statements.LIVE);
    List<byte[]> bounds = new ArrayList<>();
    if (!prefix.isEmpty()) {
      byte[] first = EntryKey.bound("prefix", prefix);
      sql.append(" and e.key >= ? and e.key < ?");
      bounds.add(first);
      bounds.add(EntryKey.afterPrefix(first));
    }
    if (start != null) {
      sql.append(" and e.key >= ?");
      bounds.add(EntryKey.bound("start", start));
    }
    if (after != null) {
      sql.append(" and e.key > ?");
      bounds.add(EntryKey.bound("after", after));
    }
    if (through != null) {
      sql.append(" and e.key <= ?");
      bounds.add(EntryKey.bound("through", through));
    }
    return new Condition(sql.toString(), bounds);
  }
}
