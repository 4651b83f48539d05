package dev.roost.datastore;

import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Connections for the entries of stores. Their statements do all that belongs together in one round
 * trip, so they go past the transaction manager, whose commit would be another one.
 */
@ApplicationScoped
class Database {
  private final DataSource dataSource;

  Database(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** What is done on a connection. */
  @FunctionalInterface
  interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  /** A statement of the database that failed; the cause says how. */
  static final class Failure extends RuntimeException {
    private Failure(SQLException cause) {
      super(cause.getMessage(), cause);
    }

    String state() {
      return ((SQLException) getCause()).getSQLState();
    }
  }

  /**
   * Each statement is a transaction of its own.
   *
   * @throws Failure
   */
  <T> T once(Work<T> work) {
    try (Connection connection = dataSource.getConnection()) {
      return work.on(connection);
    } catch (SQLException e) {
      throw new Failure(e);
    }
  }

  /**
   * All or nothing; each statement sees what was committed before it began.
   *
   * @throws Failure also where it is unknown whether the commit came through
   */
  <T> T inTransaction(Work<T> work) {
    return once(
        connection -> {
          connection.setAutoCommit(false);
          T result;
          try {
            result = work.on(connection);
            connection.commit();
          } catch (SQLException | RuntimeException e) {
            try {
              connection.rollback();
              connection.setAutoCommit(true);
            } catch (SQLException broken) {
              e.addSuppressed(broken); // The pool finds out, too.
            }
            throw e;
          }
          connection.setAutoCommit(true);
          return result;
        });
  }
}
