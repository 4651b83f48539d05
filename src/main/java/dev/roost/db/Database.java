package dev.roost.db;

import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Connections past the transaction manager: for statements that do all that belongs together in one
 * round trip, where its commit would be another one, and for loops that write in bulk.
 */
@ApplicationScoped
public class Database {
  private final DataSource dataSource;

  public Database(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** What is done on a connection. */
  @FunctionalInterface
  public interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  /** A statement of the database that failed; the cause says how. */
  public static final class Failure extends RuntimeException {
    private Failure(SQLException cause) {
      super(cause.getMessage(), cause);
    }

    public String state() {
      return ((SQLException) getCause()).getSQLState();
    }
  }

  /**
   * Each statement is a transaction of its own.
   *
   * @throws Failure
   */
  public <T> T once(Work<T> work) {
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
  public <T> T inTransaction(Work<T> work) {
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
