package dev.roost.datastore;

import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Supplier;

/**
 * Runs the statements of stores under the condition of an {@link Access}, and reads from their row
 * what happened: access was not granted, the write is a repetition, there was nothing to do, or a
 * result.
 */
@ApplicationScoped
class Guarded {
  private static final String NUMERIC_VALUE_OUT_OF_RANGE = "22003";

  private final Database database;

  Guarded(Database database) {
    this.database = database;
  }

  /**
   * Reads with one statement; empty: nothing was found.
   *
   * @throws Problem the refusal of {@code access}
   */
  <T> Optional<T> read(Access access, Sql.Bound statement, Sql.Row<T> reader) {
    return database.once(
        connection ->
            statement
                .first(
                    connection,
                    row -> {
                      if (!row.getBoolean("granted")) {
                        throw access.refusal().get();
                      }
                      return result(row, reader);
                    })
                .orElseThrow());
  }

  /**
   * Writes with one of {@link WriteStatements}; no result: nothing had to change.
   *
   * @throws Problem lock_lost, fenced, idempotency_key_reused, or the refusal of {@code access}
   */
  <T> WriteOutcome<Optional<T>> write(Access access, Sql.Bound statement, Sql.Row<T> reader) {
    return inRange(
        () -> database.once(connection -> execute(connection, access, statement, reader)));
  }

  /**
   * Runs several statements in one transaction, with access, the store's lock and those of keys
   * until its end. The work stores the idempotency record.
   *
   * @param alone whether to take the store's lock in exclusive mode, against all other writes
   * @param keyLocks numbers of {@link KeyLock}, and whether to take each lock in exclusive mode
   * @throws Problem as {@link #write} does
   */
  <T> WriteOutcome<T> inTransaction(
      Access access, boolean alone, SortedMap<Long, Boolean> keyLocks, Database.Work<T> work) {
    Sql.Bound enter =
        access
            .write(access.rule().writes.enter)
            .with("storeLock", KeyLock.ofStore(access.storeId()))
            .with("alone", alone)
            .with("keyLocks", keyLocks.keySet().toArray(Long[]::new))
            .with("exclusive", keyLocks.values().toArray(Boolean[]::new));
    return inRange(
        () ->
            database.inTransaction(
                connection -> {
                  WriteOutcome<?> entered = execute(connection, access, enter, row -> row);
                  return entered instanceof WriteOutcome.Repeated<?> repeated
                      ? new WriteOutcome.Repeated<T>(repeated.answer())
                      : new WriteOutcome.Executed<>(work.on(connection));
                }));
  }

  private static <T> WriteOutcome<Optional<T>> execute(
      Connection connection, Access access, Sql.Bound statement, Sql.Row<T> reader)
      throws SQLException {
    return statement.first(connection, row -> outcome(access, row, reader)).orElseThrow();
  }

  /** A repetition takes precedence: the access may have ended since the first request. */
  private static <T> WriteOutcome<Optional<T>> outcome(
      Access access, ResultSet row, Sql.Row<T> reader) throws SQLException {
    Optional<JsonText> recorded = IdempotencyRecords.answer(row, access);
    if (recorded.isPresent()) {
      return new WriteOutcome.Repeated<>(recorded.get());
    }
    if (!row.getBoolean("granted")) {
      throw access.refusal().get();
    }
    byte[] lostLock = row.getBytes("lost_lock");
    if (lostLock != null) {
      throw Locks.lost(lostLock);
    }
    return new WriteOutcome.Executed<>(result(row, reader));
  }

  private static <T> Optional<T> result(ResultSet row, Sql.Row<T> reader) throws SQLException {
    return row.getBoolean("has_result") ? Optional.of(reader.read(row)) : Optional.empty();
  }

  private static <T> T inRange(Supplier<T> write) {
    try {
      return write.get();
    } catch (Database.Failure e) {
      throw NUMERIC_VALUE_OUT_OF_RANGE.equals(e.state())
          ? Problem.invalid(
              "increment", "out_of_range", "The sum has more digits than can be stored.")
          : e;
    }
  }
}
