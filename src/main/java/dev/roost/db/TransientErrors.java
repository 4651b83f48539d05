package dev.roost.db;

import java.sql.SQLException;
import java.util.Set;
import java.util.function.Predicate;

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

  /** SQL states of a statement that was ended at a time limit, of its own or for a lock. */
  private static final Set<String> TIMEOUTS = Set.of("57014", "55P03");

  private TransientErrors() {}

  /** Whether the error, its causes or its suppressed exceptions are transient. */
  public static boolean isTransient(Throwable e) {
    return hasState(e, state -> state == null || STATES.contains(state));
  }

  /** Whether a statement was ended because it took too long; see {@link #isTransient}. */
  public static boolean isTimeout(Throwable e) {
    return hasState(e, state -> state != null && TIMEOUTS.contains(state));
  }

  private static boolean hasState(Throwable e, Predicate<String> states) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && states.test(sql.getSQLState())) {
        return true;
      }
      // A failed commit has the database's error as a suppressed exception, not as its cause.
      for (Throwable beside : cause.getSuppressed()) {
        if (hasState(beside, states)) {
          return true;
        }
      }
    }
    return false;
  }
}
