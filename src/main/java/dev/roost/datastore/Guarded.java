package dev.roost.datastore;

import dev.roost.api.Problem;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Runs the {@link Statements} of stores under the condition of an {@link Access}, and explains why
 * a statement had no effect: access was not granted, the write is a repetition, or there was
 * nothing to do.
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
            look(connection, statement, reader).orElseThrow(() -> access.refusal().get()).stream()
                .findFirst());
  }

  /**
   * Writes with one statement; empty: nothing had to change.
   *
   * @throws Problem lock_lost, or the refusal of {@code access}
   * @throws IdempotencyRecords.DoneBefore
   */
  <T> Optional<T> write(Access access, Sql.Bound statement, Sql.Row<T> reader) {
    if (access.rule().ofExecutions()) {
      statement.with("channel", access.receipt().name()).with("seq", access.receipt().seq());
    }
    try {
      return database.once(
          connection -> {
            Optional<List<T>> found = look(connection, statement, reader);
            if (found.isEmpty()) {
              throw refusal(connection, access);
            }
            if (found.get().isEmpty()) {
              IdempotencyRecords.check(connection, access);
            }
            return found.get().stream().findFirst();
          });
    } catch (Database.Failure e) {
      throw translated(e, access);
    }
  }

  /**
   * Several statements in one transaction. The first one must be {@link #enter}.
   *
   * @throws IdempotencyRecords.DoneBefore
   */
  <T> T inTransaction(Access access, Database.Work<T> work) {
    try {
      return database.inTransaction(work);
    } catch (Database.Failure e) {
      throw translated(e, access);
    }
  }

  /**
   * Requests access, which lasts until the end of the transaction, and takes the store's lock.
   *
   * @param alone whether to take the lock in exclusive mode, against all other writes
   * @throws Problem lock_lost, or the refusal of {@code access}
   * @throws IdempotencyRecords.DoneBefore
   */
  void enter(Connection connection, Access access, boolean alone) throws SQLException {
    Statements statements = Statements.of(access.rule());
    boolean granted =
        !access
            .bind(alone ? statements.lockStore : statements.shareStore)
            .with("storeLock", KeyLock.ofStore(access.storeId()))
            .list(connection, row -> row)
            .isEmpty();
    if (!granted) {
      throw refusal(connection, access);
    }
    IdempotencyRecords.check(connection, access);
  }

  /** Empty: access was not granted; otherwise a list of at most one result. */
  private static <T> Optional<List<T>> look(
      Connection connection, Sql.Bound statement, Sql.Row<T> reader) throws SQLException {
    return statement
        .first(
            connection,
            row -> {
              if (!row.getBoolean("granted")) {
                return Optional.<List<T>>empty();
              }
              return Optional.of(
                  row.getObject(2) == null ? List.<T>of() : List.of(reader.read(row)));
            })
        .orElseThrow();
  }

  private static Problem refusal(Connection connection, Access access) throws SQLException {
    IdempotencyRecords.check(connection, access);
    if (access.rule().ofExecutions()) {
      Locks.requireNoneLost(connection, access);
    }
    return access.refusal().get();
  }

  private RuntimeException translated(Database.Failure failure, Access access) {
    if (IdempotencyRecords.isThere((SQLException) failure.getCause())) {
      database.once(
          connection -> {
            IdempotencyRecords.check(connection, access);
            return null;
          });
    }
    return NUMERIC_VALUE_OUT_OF_RANGE.equals(failure.state())
        ? Problem.invalid(
            "increment", "out_of_range", "The sum has more digits than can be stored.")
        : failure;
  }
}
