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
          "agent_name", "An agent already has this name.",
          "agent_tool_name", "An agent already has this tool name.",
          "datastore_name_key", "A DataStore already has this name.",
          "schedule_agent_id_name_key", "A schedule of the agent already has this name.",
          "executor_job_idempotency",
              "Another request with this Idempotency-Key is in progress. Retry this request.");

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
        ErrorCode.OVERLOADED,
        "The request timed out in the database. Nothing was changed.",
        LATE_RETRY_SECONDS);
  }

  private static Problem of(SQLException e) {
    return switch (e.getSQLState()) {
      // unique_violation
      case "23505" -> taken(e);
      // foreign_key_violation
      case "23503" -> {
        LOG.infof("conflicting requests: %s", e.getMessage());
        yield Problem.of(
            ErrorCode.CONFLICT,
            "A resource that the request refers to was deleted or taken into use at the same time. "
                + "Retrieve it and try again.");
      }
      // insufficient_resources, disk_full, out_of_memory, system_error, io_error
      case "53000", "53100", "53200", "58000", "58030" -> {
        LOG.errorf("the database cannot proceed: %s", e.getMessage());
        yield Problem.retryLater(
            ErrorCode.UNAVAILABLE,
            e.getSQLState().equals("53100")
                ? "The disk of the database is full. Nothing was changed."
                : "The database has a system error. Nothing was changed.",
            RETRY_SECONDS);
      }
      // character_not_in_repertoire, untranslatable_character
      case "22021", "22P05" ->
          Problem.of(
              ErrorCode.VALIDATION_FAILED,
              "The request contains a character that cannot be stored, such as NUL.");
      // datetime_field_overflow, numeric_value_out_of_range
      case "22008", "22003" ->
          Problem.of(
              ErrorCode.VALIDATION_FAILED, "A time or a number in the request is out of range.");
      default -> null;
    };
  }

  private static Problem taken(SQLException e) {
    String constraint = constraint(e);
    String detail = TAKEN.get(constraint);
    if (detail == null) {
      LOG.warnf("conflicting requests: %s", e.getMessage());
      detail = "A concurrent request made the same change. Retrieve the current state.";
    }
    return Problem.of(ErrorCode.CONFLICT, detail);
  }

  private static String constraint(SQLException e) {
    ServerErrorMessage message =
        e instanceof PSQLException postgres ? postgres.getServerErrorMessage() : null;
    return message == null || message.getConstraint() == null ? "" : message.getConstraint();
  }
}
