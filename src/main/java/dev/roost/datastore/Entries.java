package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Storage;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Optional;

/**
 * The entries of all DataStores, one operation at a time; {@link Transactions} combines several. No
 * operation joins a caller's transaction: each one has its own and is durable when it returns.
 * Entries that have expired by the database's clock are never returned; {@link #sweep} removes them
 * later.
 */
@ApplicationScoped
public class Entries {
  /** Seconds; about three hundred years, which PostgreSQL can add to the current time. */
  static final double MAX_TTL_SECONDS = 1e10;

  private static final Sql CLEAR =
      Sql.of(
          """
          with gone as (
            delete from datastore_entry e where e.store_id = :store
            returning e.expires_at is null or e.expires_at > statement_timestamp() as live
          )
          select count(*) filter (where live) as deleted from gone
          """);

  static final Sql SWEEP =
      Sql.of(
          """
          delete from datastore_entry where (store_id, key) in (
            select store_id, key from datastore_entry where expires_at <= statement_timestamp()
            order by expires_at limit :limit for update skip locked)
          and expires_at <= statement_timestamp()
          """);

  private final Database database;
  private final Guarded guarded;
  private final StoreSizes sizes;
  private final StoreCounts counts;
  private final Storage storage;
  private final int keyBytes;
  private final int valueBytes;

  Entries(
      Database database,
      Guarded guarded,
      StoreSizes sizes,
      StoreCounts counts,
      Storage storage,
      RoostConfig config) {
    this.database = database;
    this.guarded = guarded;
    this.sizes = sizes;
    this.counts = counts;
    this.storage = storage;
    this.keyBytes = config.limits().storeKeyBytes();
    this.valueBytes = config.limits().storeValueBytes();
  }

  /**
   * The result of a write.
   *
   * @param version the entry's new version
   * @param created whether the entry is new
   */
  public record Written(long version, boolean created) {}

  /**
   * An entry's current or former value.
   *
   * @param value JSON text
   */
  public record Versioned(String value, long version) {
    private static Versioned of(ResultSet row) throws SQLException {
      return new Versioned(row.getString("value"), row.getLong("version"));
    }
  }

  /**
   * @throws Problem validation_failed: the key is invalid
   */
  public Optional<Entry> get(Access access, String key) {
    return get(access, key, row -> Entry.of(row, true));
  }

  /** Reads the columns that {@code reader} needs: a time takes longer than all others. */
  <T> Optional<T> get(Access access, String key, Sql.Row<T> reader) {
    Sql.Bound get = access.bind(access.rule().reads.get).with("key", key("key", key));
    return guarded.read(access, get, reader);
  }

  /**
   * Stores a value under a key.
   *
   * @param ttlSeconds the entry's lifetime; null: unlimited
   * @throws Problem validation_failed, too_large, store_full, precondition_failed
   */
  public WriteOutcome<Written> put(
      Access access, String key, JsonText value, Double ttlSeconds, Precondition precondition) {
    byte[] keyUtf8 = key("key", key);
    if (ttlSeconds != null && !(ttlSeconds > 0 && ttlSeconds <= MAX_TTL_SECONDS)) {
      throw Problem.invalid("ttl", "out_of_range", "A TTL must be a positive number of seconds.");
    }
    reserve(access.storeId(), keyUtf8.length + valueBytes(value));
    WriteStatements writes = access.rule().writes;
    Sql.Bound put =
        precondition instanceof Precondition.None || precondition instanceof Precondition.Absent
            ? write(access, writes.set, keyUtf8)
                .with("onlyIfAbsent", precondition instanceof Precondition.Absent)
            : write(access, writes.replace, keyUtf8).with("versions", versions(precondition));
    put.with("value", value.text()).with("ttl", ttlSeconds);
    return guarded
        .write(access, put, row -> new Written(row.getLong("version"), row.getBoolean("created")))
        .map(written -> written.orElseThrow(() -> changed(precondition)));
  }

  /**
   * @return the removed version; empty: there was no such entry
   * @throws Problem validation_failed, precondition_failed
   */
  public WriteOutcome<Optional<Long>> delete(Access access, String key, Precondition precondition) {
    Sql.Bound delete =
        write(access, access.rule().writes.delete, key("key", key))
            .with("versions", versions(precondition));
    return guarded
        .write(access, delete, row -> row.getLong("version"))
        .map(
            deleted -> {
              if (deleted.isEmpty() && !(precondition instanceof Precondition.None)) {
                throw changed(precondition);
              }
              return deleted;
            });
  }

  /**
   * Removes an entry and returns its value and version.
   *
   * @throws Problem validation_failed
   */
  public WriteOutcome<Optional<Versioned>> pop(Access access, String key) {
    Sql.Bound pop = write(access, access.rule().writes.pop, key("key", key));
    return guarded.write(access, pop, Versioned::of);
  }

  /**
   * Adds to a number; an absent one counts as 0. The entry keeps its expiry.
   *
   * @param amount a JSON number
   * @return the sum
   * @throws Problem validation_failed: not a number; store_full
   */
  public WriteOutcome<Versioned> increment(Access access, String key, JsonText amount) {
    byte[] keyUtf8 = key("key", key);
    reserve(access.storeId(), keyUtf8.length + amount.text().length());
    Sql.Bound increment =
        write(access, access.rule().writes.increment, keyUtf8)
            .with("amount", amount.text())
            .with("number", TransactionBody.NUMBER);
    return guarded
        .write(access, increment, Versioned::of)
        .map(sum -> sum.orElseThrow(() -> notANumber("amount", key)));
  }

  public long count(Access access) {
    Sql.Bound count = access.bind(access.rule().reads.count);
    return counted(access, count);
  }

  /** The number of keys with the prefix, counted in the index. */
  public long count(Access access, String prefix) {
    if (prefix.isEmpty()) {
      return count(access);
    }
    byte[] first = EntryKey.bound("prefix", prefix);
    return counted(
        access,
        access
            .bind(access.rule().reads.countBetween)
            .with("from", first)
            .with("to", EntryKey.afterPrefix(first)));
  }

  private long counted(Access access, Sql.Bound count) {
    return guarded.read(access, count, row -> row.getLong("count")).orElse(0L);
  }

  /**
   * Returns a consistent snapshot of a range.
   *
   * @param limit the most entries to return; there may be fewer even when more follow, see {@link
   *     Scan#next}
   * @param withValues whether to include the values
   * @throws Problem validation_failed: not Unicode
   */
  public Scan scan(Access access, Range range, int limit, boolean withValues) {
    Sql.Bound look = access.bind(access.rule().mayRead);
    return database.once(
        connection -> {
          if (look.list(connection, row -> row).isEmpty()) {
            throw access.refusal().get();
          }
          return Scan.read(connection, access.storeId(), range, limit, withValues);
        });
  }

  /** Removes all entries and returns their number. */
  public WriteOutcome<Long> clear(Access access) {
    WriteOutcome<Long> deleted =
        guarded.inTransaction(
            access,
            true,
            Collections.emptySortedMap(),
            connection -> {
              long gone =
                  CLEAR
                      .with("store", access.storeId())
                      .first(connection, row -> row.getLong("deleted"))
                      .orElseThrow();
              IdempotencyRecords.note(connection, access, "{\"deleted\":" + gone + "}");
              return gone;
            });
    sizes.forget(access.storeId());
    return deleted;
  }

  /**
   * Removes expired entries of all stores.
   *
   * @return how many; the limit: there may be more
   */
  public int sweep(int limit) {
    return database.once(connection -> SWEEP.with("limit", limit).update(connection));
  }

  byte[] key(String where, String key) {
    return EntryKey.bytes(where, key, keyBytes);
  }

  /**
   * @throws Problem too_large
   */
  long valueBytes(JsonText value) {
    return valueBytes(value, valueBytes);
  }

  /**
   * @throws Problem too_large
   */
  static long valueBytes(JsonText value, int maxBytes) {
    long size = Text.sizeBytes(value.text());
    if (size > maxBytes) {
      throw Problem.tooLarge("The value", size, maxBytes, "roost.limits.store-value-bytes");
    }
    return size;
  }

  /**
   * @throws Problem store_full, storage_full
   */
  void reserve(String storeId, long bytes) {
    if (bytes > 0) {
      storage.require(Storage.Area.STORES);
      sizes.reserve(storeId, bytes, () -> counts.sizeBytes(storeId));
    }
  }

  private static Sql.Bound write(Access access, Sql statement, byte[] key) {
    return access
        .write(statement)
        .with("key", key)
        .with("storeLock", KeyLock.ofStore(access.storeId()))
        .with("keyLock", KeyLock.ofKey(access.storeId(), key));
  }

  /** Null: any. */
  private static Long[] versions(Precondition precondition) {
    return precondition instanceof Precondition.Versions versions
        ? versions.versions().toArray(Long[]::new)
        : null;
  }

  private static Problem changed(Precondition precondition) {
    return Problem.of(
        ErrorCode.PRECONDITION_FAILED,
        precondition instanceof Precondition.Absent
            ? "An entry with this key already exists."
            : "The entry was changed or deleted after you read it.");
  }

  static Problem notANumber(String where, String key) {
    return Problem.invalid(
        where, "wrong_type", "The value of " + Text.quote(key) + " is not a number.");
  }
}
