package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.config.RoostConfig;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.hibernate.Session;
import org.hibernate.exception.ConstraintViolationException;
import org.hibernate.jdbc.ReturningWork;

/**
 * The entries of all DataStores. Every function joins the caller's transaction or makes one of its
 * own. What has expired, by the database's clock, is never seen; {@link #sweep} removes it later.
 */
@ApplicationScoped
@Transactional
public class Entries {
  /** Seconds; some three hundred years, which every database can add to now. */
  static final double MAX_TTL_SECONDS = 1e10;

  /** Of a row {@code e}. */
  static final String LIVE = "(e.expires_at is null or e.expires_at > statement_timestamp())";

  private final EntityManager entities;
  private final StoreSizes sizes;
  private final int keyBytes;
  private final int valueBytes;

  Entries(EntityManager entities, StoreSizes sizes, RoostConfig config) {
    this.entities = entities;
    this.sizes = sizes;
    this.keyBytes = config.limits().storeKeyBytes();
    this.valueBytes = config.limits().storeValueBytes();
  }

  /**
   * What a write has done.
   *
   * @param version the entry's new version
   * @param created whether there was no such entry before
   */
  public record Written(long version, boolean created) {}

  /**
   * @throws Problem validation_failed: not a key
   */
  public Optional<Entry> get(String storeId, String key) {
    byte[] keyUtf8 = key(key);
    return work(
        connection -> {
          try (PreparedStatement select =
              connection.prepareStatement(
                  "select e.key, e.value, e.version, e.expires_at, e.updated_at from datastore_entry e"
                      + " where e.store_id = ? and e.key = ? and "
                      + LIVE)) {
            select.setString(1, storeId);
            select.setBytes(2, keyUtf8);
            ResultSet row = select.executeQuery();
            return row.next() ? Optional.of(Entry.of(row, true)) : Optional.empty();
          }
        });
  }

  /**
   * Stores a value under a key.
   *
   * @param ttlSeconds after which the entry is gone; null: never
   * @throws Problem validation_failed, too_large, precondition_failed, or not_found: there is no
   *     such store
   */
  public Written put(
      String storeId, String key, JsonText value, Double ttlSeconds, Precondition precondition) {
    byte[] keyUtf8 = key(key);
    if (ttlSeconds != null && !(ttlSeconds > 0 && ttlSeconds <= MAX_TTL_SECONDS)) {
      throw Problem.invalid(
          "ttl", "out_of_range", "A time to live is a positive number of seconds.");
    }
    long size = value.text().getBytes(StandardCharsets.UTF_8).length;
    if (size > valueBytes) {
      throw Problem.tooLarge("The value", size, valueBytes, "roost.limits.store-value-bytes");
    }
    sizes.reserve(storeId, keyUtf8.length + size, () -> statistics(storeId).sizeBytes());
    Optional<Written> written;
    try {
      written =
          work(connection -> write(connection, storeId, keyUtf8, value, ttlSeconds, precondition));
    } catch (ConstraintViolationException e) {
      throw Problem.notFound("DataStore", storeId);
    }
    touch(storeId);
    return written.orElseThrow(() -> changed(precondition));
  }

  /**
   * @return whether there was such an entry
   * @throws Problem validation_failed, precondition_failed
   */
  public boolean delete(String storeId, String key, Precondition precondition) {
    byte[] keyUtf8 = key(key);
    boolean deleted =
        work(
            connection -> {
              try (PreparedStatement delete =
                  connection.prepareStatement(
                      "delete from datastore_entry e where e.store_id = ? and e.key = ? and "
                          + LIVE
                          + versions(precondition))) {
                delete.setString(1, storeId);
                delete.setBytes(2, keyUtf8);
                bindVersions(connection, delete, 3, precondition);
                return delete.executeUpdate() == 1;
              }
            });
    if (!deleted && !(precondition instanceof Precondition.None)) {
      throw changed(precondition);
    }
    if (deleted) {
      touch(storeId);
    }
    return deleted;
  }

  public long count(String storeId) {
    return work(
        connection -> {
          try (PreparedStatement select =
              connection.prepareStatement(
                  "select count(*) from datastore_entry e where e.store_id = ? and " + LIVE)) {
            select.setString(1, storeId);
            return number(select);
          }
        });
  }

  /**
   * @throws Problem validation_failed: not Unicode
   */
  public Scan scan(String storeId, Scan.Range range) {
    return work(connection -> Scan.read(connection, storeId, range));
  }

  /** Removes all entries and says how many there were. */
  public long clear(String storeId) {
    long deleted =
        work(
            connection -> {
              try (PreparedStatement delete =
                  connection.prepareStatement(
                      "with gone as (delete from datastore_entry e where e.store_id = ? returning "
                          + LIVE
                          + " as live) select count(*) filter (where live) from gone")) {
                delete.setString(1, storeId);
                return number(delete);
              }
            });
    sizes.forget(storeId);
    touch(storeId);
    return deleted;
  }

  /**
   * Removes expired entries, of all stores.
   *
   * @return how many; as many as the limit: there may be more
   */
  public int sweep(int limit) {
    return work(
        connection -> {
          try (PreparedStatement delete =
              connection.prepareStatement(
                  """
                  delete from datastore_entry where (store_id, key) in (
                    select store_id, key from datastore_entry where expires_at <= statement_timestamp()
                    order by expires_at limit ? for update skip locked)
                  and expires_at <= statement_timestamp()""")) {
            delete.setInt(1, limit);
            return delete.executeUpdate();
          }
        });
  }

  /**
   * What a store holds.
   *
   * @param sizeBytes of keys and values
   * @param updatedAt of the entry that was written last; null when there is none
   */
  public record Statistics(long entries, long sizeBytes, Instant updatedAt) {}

  /** Reads the whole store, though not its large values. */
  public Statistics statistics(String storeId) {
    return work(
        connection -> {
          try (PreparedStatement select =
              connection.prepareStatement(
                  "select count(*), coalesce(sum(octet_length(e.key) + octet_length(e.value)), 0),"
                      + " max(e.updated_at) as updated_at from datastore_entry e where e.store_id = ? and "
                      + LIVE)) {
            select.setString(1, storeId);
            ResultSet row = select.executeQuery();
            row.next();
            return new Statistics(row.getLong(1), row.getLong(2), Entry.instant(row, "updated_at"));
          }
        });
  }

  private static Optional<Written> write(
      Connection connection,
      String storeId,
      byte[] key,
      JsonText value,
      Double ttlSeconds,
      Precondition precondition)
      throws SQLException {
    // On a conflict the version is taken after the row is locked: it never falls.
    String update =
        """
        update datastore_entry e set value = ?, version = nextval('datastore_version'),
          updated_at = statement_timestamp(),
          expires_at = statement_timestamp() + make_interval(secs => ?)
        where e.store_id = ? and e.key = ? and """;
    // The sub-select sees what was there before this statement.
    String returning =
        " returning e.version, not exists (select from datastore_entry b where b.store_id = e.store_id"
            + " and b.key = e.key and (b.expires_at is null or b.expires_at > statement_timestamp()))";
    String insert =
        """
        insert into datastore_entry as e (value, version, updated_at, expires_at, store_id, key)
        values (?, nextval('datastore_version'), statement_timestamp(),
          statement_timestamp() + make_interval(secs => ?), ?, ?)
        on conflict (store_id, key) do update set value = excluded.value,
          version = nextval('datastore_version'), updated_at = statement_timestamp(),
          expires_at = excluded.expires_at""";
    String statement;
    if (precondition instanceof Precondition.None) {
      statement = insert;
    } else if (precondition instanceof Precondition.Absent) {
      statement = insert + " where not " + LIVE;
    } else {
      statement = update + " " + LIVE + versions(precondition);
    }
    try (PreparedStatement write = connection.prepareStatement(statement + returning)) {
      write.setString(1, value.text());
      write.setObject(2, ttlSeconds, java.sql.Types.DOUBLE);
      write.setString(3, storeId);
      write.setBytes(4, key);
      bindVersions(connection, write, 5, precondition);
      ResultSet row = write.executeQuery();
      return row.next()
          ? Optional.of(new Written(row.getLong(1), row.getBoolean(2)))
          : Optional.empty();
    }
  }

  private static String versions(Precondition precondition) {
    if (precondition instanceof Precondition.Absent) {
      return " and false";
    }
    return precondition instanceof Precondition.Versions ? " and e.version = any(?)" : "";
  }

  private static void bindVersions(
      Connection connection, PreparedStatement statement, int parameter, Precondition precondition)
      throws SQLException {
    if (precondition instanceof Precondition.Versions versions) {
      statement.setArray(
          parameter, connection.createArrayOf("int8", versions.versions().toArray()));
    }
  }

  private static Problem changed(Precondition precondition) {
    return Problem.of(
        ErrorCode.PRECONDITION_FAILED,
        precondition instanceof Precondition.Absent
            ? "There is an entry with this key already."
            : "The entry was changed or deleted since you read it.");
  }

  private static long number(PreparedStatement statement) throws SQLException {
    ResultSet row = statement.executeQuery();
    row.next();
    return row.getLong(1);
  }

  /** Notes the change on the store itself, at most once a second and never waiting for a lock. */
  private void touch(String storeId) {
    if (!sizes.isTouchDue(storeId)) {
      return;
    }
    work(
        connection -> {
          try (PreparedStatement update =
              connection.prepareStatement(
                  """
                  update datastore set updated_at = statement_timestamp() where id in (
                    select id from datastore where id = ? for no key update skip locked)""")) {
            update.setString(1, storeId);
            return update.executeUpdate();
          }
        });
  }

  private byte[] key(String key) {
    return EntryKey.bytes("key", key, keyBytes);
  }

  private <T> T work(ReturningWork<T> work) {
    return entities.unwrap(Session.class).doReturningWork(work);
  }
}
