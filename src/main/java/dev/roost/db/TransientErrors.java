package dev.roost.db;

import java.sql.SQLException;
import java.util.Set;

/** Identifies database errors that a retry may resolve. */
public final class TransientErrors {
  /**
   * SQL states of connection failures, shutdown, serialization failures, deadlocks and too many
   * connections (PostgreSQL, appendix A, "Error Codes").
   */
  private static final Set<String> STATES =
      Set.of(
          "08000", "08001", "08003", "08004", "08006", "08007", "57P01", "57P02", "57P03", "40001",
          "40P01", "53300");

  private TransientErrors() {}

  /** Whether the error, its causes or its suppressed exceptions are transient. */
  public static boolean isTransient(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql
          && (sql.getSQLState() == null || STATES.contains(sql.getSQLState()))) {
        return true;
      }
      // A failed commit has the database's error as a suppressed exception, not as its cause.
      for (Throwable beside : cause.getSuppressed()) {
        if (isTransient(beside)) {
          return true;
        }
      }
    }
    return false;
  }
}
