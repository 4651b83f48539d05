package dev.roost.execution;

import dev.roost.datastore.Locks;
import dev.roost.db.Database;
import jakarta.enterprise.context.ApplicationScoped;
import java.security.SecureRandom;
import java.util.Optional;

/** Ends executions, and releases what they hold in stores. */
@ApplicationScoped
class ExecutionCompletion {
  private final Database database;
  private final Locks locks;
  private final SecureRandom random = new SecureRandom();

  ExecutionCompletion(Database database, Locks locks) {
    this.database = database;
    this.locks = locks;
  }

  /** Calls {@link Execution#finish} in the caller's transaction. */
  boolean finish(
      String executionId, Execution.Progress progress, Outcome outcome, boolean mayHaveEntered) {
    boolean again = Execution.finish(executionId, progress, outcome, mayHaveEntered, random);
    locks.end(executionId);
    return again;
  }

  /** Calls {@link Execution#succeedAtOnce}. */
  Optional<Execution.Succeeded> succeedAtOnce(
      String executorId,
      String executionId,
      Execution.Progress progress,
      Outcome outcome,
      boolean readJob) {
    return database.once(
        connection ->
            Execution.succeedAtOnce(
                connection, executorId, executionId, progress, outcome, readJob));
  }
}
