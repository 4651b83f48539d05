package dev.roost.api;

import jakarta.transaction.RollbackException;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Database errors that are not faults of Roost: conflicts between concurrent requests, values that
 * PostgreSQL can't store, a full disk (PostgreSQL, appendix A, "Error Codes").
 */
final class DatabaseRefusals {
  private static final Logger LOG = Logger.getLogger(DatabaseRefusals.class);

  /** Time for an operator to free disk space. */
  private static final long RETRY_SECONDS = 30;

  private static final long LATE_RETRY_SECONDS = 5;

  private static final Map<String, String> TAKEN =
      Map.of(
          "agent_name", "There is an agent of that name already.",
          "datastore_name_key", "There is a DataStore of that name already.",
          "schedule_agent_id_name_key", "The agent has a schedule of that name already.",
          "executor_job_idempotency",
              "Another request with this Idempotency-Key is being handled. Send it again.");

  private DatabaseRefusals() {}

  /** Empty for other errors. */
  static Optional<Problem> of(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof RollbackException && cause.getCause() == null) {
        return Optional.of(tookTooLong());
      }
      if (cause instanceof SQLException sql && sql.getSQLState() != null) {
        Problem problem = of(sql);
        if (problem != null) {
          return Optional.of(problem);
        }
      }
      // A failed commit has the database's error as a suppressed exception, not as its cause.
      for (Throwable beside : cause.getSuppressed()) {
        Optional<Problem> problem = of(beside);
        if (problem.isPresent()) {
          return problem;
        }
      }
    }
    return Optional.empty();
  }

  /**
   * The transaction manager has rolled back the transaction at its time limit, so nothing was
   * committed: this machine or the database is overloaded.
   */
  private static Problem tookTooLong() {
    LOG.warn("a transaction reached its time limit and was rolled back");
    return Problem.retryLater(
        ErrorCode.OVERLOADED, "It took too long; nothing was changed.", LATE_RETRY_SECONDS);
  }

  private static Problem of(SQLException e) {
    return switch (e.getSQLState()) {
      // unique_violation
      case "23505" -> taken(e);
      // foreign_key_violation
      case "23503" -> {
        LOG.infof("two requests at once: %s", e.getMessage());
        yield Problem.of(
            ErrorCode.CONFLICT,
            "Something that the request is about was deleted or taken into use at the same moment."
                + " Read it again.");
      }
      // insufficient_resources, disk_full, out_of_memory, system_error, io_error
      case "53000", "53100", "53200", "58000", "58030" -> {
        LOG.errorf("the database can't go on: %s", e.getMessage());
        yield Problem.retryLater(
            ErrorCode.UNAVAILABLE,
            e.getSQLState().equals("53100")
                ? "The database's disk is full; nothing was changed."
                : "The database has trouble with its machine; nothing was changed.",
            RETRY_SECONDS);
      }
      // character_not_in_repertoire, untranslatable_character
      case "22021", "22P05" ->
          Problem.of(
              ErrorCode.VALIDATION_FAILED,
              "A text of the request holds a character that can't be stored, such as NUL.");
      // datetime_field_overflow, numeric_value_out_of_range
      case "22008", "22003" ->
          Problem.of(
              ErrorCode.VALIDATION_FAILED, "A time or a number of the request is out of range.");
      default -> null;
    };
  }

  private static Problem taken(SQLException e) {
    String constraint = constraint(e);
    String detail = TAKEN.get(constraint);
    if (detail == null) {
      LOG.warnf("two requests at once: %s", e.getMessage());
      detail = "Another request did the same at the same moment. Read again what there is now.";
    }
    return Problem.of(ErrorCode.CONFLICT, detail);
  }

  private static String constraint(SQLException e) {
    ServerErrorMessage message =
        e instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
    return message == null || message.getConstraint() == null ? "" : message.getConstraint();
  }
}
