package dev.roost.db;

import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Connections without the transaction manager: for statements that do related work in a single
 * round trip, where a commit would be another round trip, and for loops that write in bulk.
 */
@ApplicationScoped
public class Database {
  private static final String DEADLOCK = "40P01";
  private static final int ATTEMPTS = 3;
  private static final Duration HALF_A_SECOND = Duration.ofMillis(500);
  private static final Sql SNAPSHOT =
      Sql.of("set transaction isolation level repeatable read, read only");

  private final DataSource dataSource;

  public Database(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** Work on a connection. */
  @FunctionalInterface
  public interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  /** A failed database operation; the cause has the details. */
  public static final class Failure extends RuntimeException {
    private Failure(SQLException cause) {
      super(cause.getMessage(), cause);
    }

    public String state() {
      return ((SQLException) getCause()).getSQLState();
    }
  }

  /**
   * Runs the work in autocommit mode: each statement is its own transaction.
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
   * Runs a single statement, and again when PostgreSQL has ended it to resolve a deadlock, three
   * times at most. For statements that lock many rows in an order of their own, as a delete that
   * cascades does.
   *
   * @throws Failure
   */
  public <T> T withoutDeadlock(Work<T> statement) {
    for (int attempt = 1; ; attempt++) {
      try {
        return once(statement);
      } catch (Failure e) {
        if (!DEADLOCK.equals(e.state()) || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /**
   * Runs the work in one transaction; each statement sees what was committed before it began.
   *
   * @throws Failure also when the outcome of the commit is unknown
   */
  public <T> T inTransaction(Work<T> work) {
    return once(connection -> transaction(connection, work));
  }

  /**
   * Reads in one transaction of which all statements see the same state of the database.
   *
   * @throws Failure
   */
  public <T> T read(Work<T> work) {
    return inTransaction(
        connection -> {
          SNAPSHOT.with().update(connection);
          return work.on(connection);
        });
  }

  /**
   * A transaction for a caller that can't wait: without a response in that time, the connection is
   * given up. The database ends a statement that takes longer itself, half a second before that.
   *
   * @throws Failure
   */
  public <T> T inTransaction(Duration limit, Work<T> work) {
    Sql statementTimeout =
        Sql.of("set local statement_timeout = " + limit.minus(HALF_A_SECOND).toMillis());
    return once(
        connection -> {
          connection.setNetworkTimeout(Runnable::run, (int) limit.toMillis());
          try {
            return transaction(
                connection,
                limited -> {
                  statementTimeout.with().update(limited);
                  return work.on(limited);
                });
          } finally {
            if (!connection.isClosed()) {
              connection.setNetworkTimeout(Runnable::run, 0);
            }
          }
        });
  }

  private static <T> T transaction(Connection connection, Work<T> work) throws SQLException {
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
        e.addSuppressed(broken); // The pool detects the broken connection.
      }
      throw e;
    }
    connection.setAutoCommit(true);
    return result;
  }
}
