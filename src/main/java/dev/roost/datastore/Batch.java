package dev.roost.datastore;

import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.db.Sql;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The writes of a transaction: one statement for each kind. */
final class Batch {
  private static final Sql SET =
      Sql.of(
          """
          insert into datastore_entry as e (store_id, key, value, version, updated_at, expires_at)
          select :store, w.key, w.value, nextval('datastore_version'), statement_timestamp(),
            coalesce(w.expires_at, statement_timestamp() + make_interval(secs => w.ttl))
          from unnest(:keys, :values, :ttls, cast(:expires as timestamptz[])) as w (key, value, ttl, expires_at)
          on conflict (store_id, key) do update set value = excluded.value, version = excluded.version,
            updated_at = excluded.updated_at, expires_at = excluded.expires_at
          returning e.key, e.version
          """);

  private static final Sql DELETE =
      Sql.of("delete from datastore_entry where store_id = :store and key = any(:keys)");

  private static final Sql INCREMENT =
      Sql.of(
          """
          insert into datastore_entry as e (store_id, key, value, version, updated_at, expires_at)
          select :store, w.key, w.amount, nextval('datastore_version'), statement_timestamp(), null
          from unnest(:keys, :values) as w (key, amount)
          on conflict (store_id, key) do update
          set value = case when e.expires_at <= statement_timestamp() then excluded.value
              else (e.value::numeric + excluded.value::numeric)::text end,
            version = excluded.version, updated_at = excluded.updated_at,
            expires_at = case when e.expires_at > statement_timestamp() then e.expires_at end
          where e.expires_at <= statement_timestamp() or e.value ~ :number
          returning e.key, e.version, e.value
          """);

  private final List<Write> writes;
  private final List<byte[]> keys = new ArrayList<>();
  private final Columns sets = new Columns();
  private final Columns deletes = new Columns();
  private final Columns increments = new Columns();
  private long bytes;

  private Batch(List<Write> writes) {
    this.writes = writes;
  }

  /** A statement's array parameters. */
  private static final class Columns {
    final List<byte[]> keys = new ArrayList<>();
    final List<String> values = new ArrayList<>();
    final List<Double> ttls = new ArrayList<>();
    final List<String> expires = new ArrayList<>();
  }

  /**
   * @throws Problem validation_failed: an invalid key, or one that two writes share; too_large
   */
  static Batch of(List<Write> writes, Entries entries) {
    Batch batch = new Batch(writes);
    Map<ByteBuffer, Integer> seen = new HashMap<>();
    for (int i = 0; i < writes.size(); i++) {
      Write write = writes.get(i);
      byte[] key = entries.key("/writes/" + i + "/key", write.key());
      if (seen.putIfAbsent(ByteBuffer.wrap(key), i) != null) {
        throw Problem.invalid(
            "/writes/" + i + "/key",
            "duplicate",
            "The key " + Text.quote(write.key()) + " is written twice. Write each key once.");
      }
      batch.add(write, key, entries);
    }
    if (batch.bytes > Transaction.MAX_BYTES) {
      throw Problem.of(
          ErrorCode.TOO_LARGE,
          "The values of the transaction have %,d bytes; the limit is %,d."
              .formatted(batch.bytes, Transaction.MAX_BYTES));
    }
    return batch;
  }

  private void add(Write write, byte[] key, Entries entries) {
    keys.add(key);
    if (write instanceof Write.Set set) {
      bytes += key.length + entries.valueBytes(set.value());
      sets.keys.add(key);
      sets.values.add(set.value().text());
      sets.ttls.add(set.ttlSeconds());
      sets.expires.add(set.expiresAt() == null ? null : set.expiresAt().toString());
    } else if (write instanceof Write.Increment increment) {
      bytes += key.length + increment.amount().text().length();
      increments.keys.add(key);
      increments.values.add(increment.amount().text());
    } else {
      deletes.keys.add(key);
    }
  }

  List<byte[]> keys() {
    return keys;
  }

  /** The total size of the keys and values to store. */
  long bytes() {
    return bytes;
  }

  /**
   * The result of one write.
   *
   * @param version 0: the entry is removed
   * @param sum of an increment; otherwise null
   */
  record Result(long version, JsonText sum) {
    static final Result GONE = new Result(0, null);
  }

  /**
   * Executes the writes in the caller's transaction, which holds the keys' locks.
   *
   * @return the result of each write
   * @throws Problem validation_failed: the value to increment is not a number
   */
  List<Result> write(Connection connection, String storeId) throws SQLException {
    Map<ByteBuffer, Result> results = new HashMap<>();
    if (!sets.keys.isEmpty()) {
      bound(SET, storeId, sets)
          .with("values", sets.values.toArray(String[]::new))
          .with("ttls", sets.ttls.toArray(Double[]::new))
          .with("expires", sets.expires.toArray(String[]::new))
          .list(connection, row -> results.put(key(row), new Result(row.getLong("version"), null)));
    }
    if (!deletes.keys.isEmpty()) {
      bound(DELETE, storeId, deletes).update(connection);
    }
    if (!increments.keys.isEmpty()) {
      bound(INCREMENT, storeId, increments)
          .with("values", increments.values.toArray(String[]::new))
          .with("number", TransactionBody.NUMBER)
          .list(
              connection,
              row ->
                  results.put(
                      key(row),
                      new Result(row.getLong("version"), new JsonText(row.getString("value")))));
    }
    List<Result> answer = new ArrayList<>(writes.size());
    for (int i = 0; i < writes.size(); i++) {
      Result result = results.get(ByteBuffer.wrap(keys.get(i)));
      if (result == null && writes.get(i) instanceof Write.Increment increment) {
        throw Entries.notANumber("/writes/" + i + "/increment", increment.key());
      }
      answer.add(result == null ? Result.GONE : result);
    }
    return answer;
  }

  private static Sql.Bound bound(Sql statement, String storeId, Columns columns) {
    return statement.with("store", storeId).with("keys", columns.keys.toArray(byte[][]::new));
  }

  private static ByteBuffer key(ResultSet row) throws SQLException {
    return ByteBuffer.wrap(row.getBytes("key"));
  }
}
