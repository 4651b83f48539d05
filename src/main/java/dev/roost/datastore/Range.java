package dev.roost.datastore;

import dev.roost.api.Body;
import dev.roost.db.Sql;
import java.util.Arrays;

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
   * A statement about the keys from {@code :from} on and before {@code :to} of a {@code :store}.
   *
   * @throws dev.roost.api.Problem validation_failed: not Unicode
   */
  Sql.Bound bind(Sql statement, String storeId) {
    Bounds bounds = bounds();
    return statement.with("store", storeId).with("from", bounds.from()).with("to", bounds.to());
  }

  /**
   * @param from the least key
   * @param to greater than all keys
   */
  record Bounds(byte[] from, byte[] to) {
    boolean contain(byte[] key) {
      return Arrays.compareUnsigned(key, from) >= 0 && Arrays.compareUnsigned(key, to) < 0;
    }
  }

  Bounds bounds() {
    byte[] from = new byte[0];
    byte[] to = EntryKey.AFTER_ALL;
    if (!prefix.isEmpty()) {
      byte[] first = EntryKey.bound("prefix", prefix);
      from = first;
      to = EntryKey.afterPrefix(first);
    }
    if (start != null) {
      from = max(from, EntryKey.bound("start", start));
    }
    if (after != null) {
      from = max(from, EntryKey.next(EntryKey.bound("after", after)));
    }
    if (through != null) {
      to = min(to, EntryKey.next(EntryKey.bound("through", through)));
    }
    return new Bounds(from, to);
  }

  private static byte[] max(byte[] one, byte[] other) {
    return Arrays.compareUnsigned(one, other) >= 0 ? one : other;
  }

  private static byte[] min(byte[] one, byte[] other) {
    return Arrays.compareUnsigned(one, other) <= 0 ? one : other;
  }
}
