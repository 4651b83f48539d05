package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Transactions on one store. Users see optimistic concurrency: they read without locks, and learn
 * of conflicts at the end. Internally this is two-phase locking: the locks of all keys are held
 * (see {@link KeyLock}) from the check of the reads until the commit. So transactions and single
 * operations are strictly serializable.
 */
@ApplicationScoped
public class Transactions {
  /**
   * With more keys, one lock of the store replaces the keys' locks: PostgreSQL's lock table is
   * small.
   */
  private static final int MAX_KEY_LOCKS = 64;

  private static final int NAMED_CHANGES = 10;
  private static final int VERSIONS_AT_ONCE = 1_000;

  /**
   * Looks up each key by itself. PostgreSQL would join all keys at once instead, and read the whole
   * store for it, if it had planned the statement while the store was small.
   */
  static final Sql CHANGED =
      Sql.of(
          """
          select r.position, coalesce(e.version, 0) as version
          from unnest(cast(:keys as bytea[]), cast(:versions as int8[])) with ordinality as r (key, version, position)
          left join lateral (
            select e.version from datastore_entry e
            where e.store_id = :store and e.key = r.key
              and (e.expires_at is null or e.expires_at > statement_timestamp())
            limit 1) e on true
          where coalesce(e.version, 0) <> r.version order by r.position limit :limit
          """);

  private static final Sql COUNT =
      Sql.of(
          """
          select count(*) as count from datastore_entry e
          where e.store_id = :store and e.key >= :from and e.key < :to
            and (e.expires_at is null or e.expires_at > statement_timestamp())
          """);

  private static final Sql VERSIONS =
      Sql.of(
          """
          select e.version from datastore_entry e
          where e.store_id = :store and e.key >= :from and e.key < :to
            and (e.expires_at is null or e.expires_at > statement_timestamp())
          order by e.key
          """);

  private final Entries entries;
  private final Guarded guarded;

  Transactions(Entries entries, Guarded guarded) {
    this.entries = entries;
    this.guarded = guarded;
  }

  /**
   * Applies a transaction, on its own connection and in its own database transaction.
   *
   * @return the answer over the link and over REST: {@code versions} with an item for each write, 0
   *     for a deletion, and {@code sums}, with null except for increments
   * @throws Problem conflict: an entry or range that was read has changed; validation_failed,
   *     too_large, store_full; or the refusal of {@code access}
   */
  public JsonText run(Access access, Transaction transaction) {
    requireSmall(transaction);
    byte[][] readKeys = keys(transaction.reads());
    Batch batch = Batch.of(transaction.writes(), entries);
    TreeMap<Long, Boolean> locks = locks(access.storeId(), readKeys, batch);
    entries.reserve(access.storeId(), batch.bytes());
    return apply(access, transaction, readKeys, batch, locks);
  }

  private JsonText apply(
      Access access,
      Transaction transaction,
      byte[][] readKeys,
      Batch batch,
      TreeMap<Long, Boolean> locks) {
    boolean alone = !transaction.ranges().isEmpty() || locks.size() > MAX_KEY_LOCKS;
    WriteOutcome<JsonText> applied =
        guarded.inTransaction(
            access,
            alone,
            alone ? Collections.emptySortedMap() : locks,
            connection -> {
              requireUnchanged(connection, access.storeId(), transaction, readKeys);
              JsonText answer = answer(batch.write(connection, access.storeId()));
              IdempotencyRecords.note(connection, access, answer.text());
              return answer;
            });
    return (JsonText) applied.answer(answer -> answer);
  }

  private static JsonText answer(List<Batch.Result> results) {
    String versions =
        results.stream()
            .map(result -> Long.toString(result.version()))
            .collect(Collectors.joining(","));
    String sums =
        results.stream()
            .map(result -> result.sum() == null ? "null" : result.sum().text())
            .collect(Collectors.joining(","));
    return new JsonText("{\"versions\":[" + versions + "],\"sums\":[" + sums + "]}");
  }

  private static void requireSmall(Transaction transaction) {
    int items =
        transaction.reads().size() + transaction.ranges().size() + transaction.writes().size();
    if (items > Transaction.MAX_ITEMS) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          "The transaction has %,d reads, ranges and writes; the limit is %,d."
              .formatted(items, Transaction.MAX_ITEMS));
    }
  }

  private byte[][] keys(List<Transaction.Read> reads) {
    byte[][] keys = new byte[reads.size()][];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = entries.key("/reads/" + i + "/key", reads.get(i).key());
    }
    return keys;
  }

  /** Lock numbers in their order, and whether each lock is exclusive. */
  private static TreeMap<Long, Boolean> locks(String storeId, byte[][] readKeys, Batch batch) {
    TreeMap<Long, Boolean> locks = new TreeMap<>();
    for (byte[] key : readKeys) {
      locks.put(KeyLock.ofKey(storeId, key), false);
    }
    for (byte[] key : batch.keys()) {
      locks.put(KeyLock.ofKey(storeId, key), true);
    }
    return locks;
  }

  private static void requireUnchanged(
      Connection connection, String storeId, Transaction transaction, byte[][] readKeys)
      throws SQLException {
    List<Problem.FieldError> changed = new ArrayList<>();
    List<Transaction.Read> reads = transaction.reads();
    if (!reads.isEmpty()) {
      changed.addAll(
          CHANGED
              .with("store", storeId)
              .with("keys", readKeys)
              .with("versions", reads.stream().map(Transaction.Read::version).toArray(Long[]::new))
              .with("limit", NAMED_CHANGES)
              .list(connection, row -> changed(reads, row)));
    }
    for (int i = 0; i < transaction.ranges().size(); i++) {
      if (!isUnchanged(connection, storeId, transaction.ranges().get(i))) {
        changed.add(
            new Problem.FieldError(
                "/ranges/" + i,
                "changed",
                "The entries %s have changed since they were read."
                    .formatted(named(transaction.ranges().get(i).range()))));
      }
    }
    if (!changed.isEmpty()) {
      throw Problem.conflict(changed);
    }
  }

  private static Problem.FieldError changed(List<Transaction.Read> reads, ResultSet row)
      throws SQLException {
    int position = row.getInt("position") - 1;
    long version = row.getLong("version");
    Transaction.Read read = reads.get(position);
    String key = Text.quote(read.key());
    return new Problem.FieldError(
        "/reads/" + position,
        "changed",
        version == 0
            ? "The entry " + key + " has been deleted or has expired since it was read."
            : read.version() == 0
                ? "The entry " + key + " did not exist when it was read, and exists now."
                : "The entry " + key + " has changed since it was read.");
  }

  private static String named(Range range) {
    return range.prefix().isEmpty()
        ? "of the range"
        : "of keys with the prefix " + Text.quote(range.prefix());
  }

  private static boolean isUnchanged(
      Connection connection, String storeId, Transaction.RangeRead read) throws SQLException {
    if (read.tag() == null) {
      long count =
          read.range()
              .bind(COUNT, storeId)
              .first(connection, row -> row.getLong("count"))
              .orElseThrow();
      return count == read.count();
    }
    RangeTag tag = new RangeTag();
    read.range()
        .bind(VERSIONS, storeId)
        .each(connection, VERSIONS_AT_ONCE, row -> tag.add(row.getLong("version")));
    return tag.text().equalsIgnoreCase(read.tag())
        && (read.count() == null || tag.count() == read.count());
  }
}
