package dev.roost.execution;

import dev.roost.datastore.Locks;
import jakarta.enterprise.context.ApplicationScoped;
import java.security.SecureRandom;

/** Ends executions, and releases what they hold in stores. */
@ApplicationScoped
class ExecutionCompletion {
  private final Locks locks;
  private final SecureRandom random = new SecureRandom();

  ExecutionCompletion(Locks locks) {
    this.locks = locks;
  }

  /** Calls {@link Execution#finish} in the caller's transaction. */
  boolean finish(
      String executionId, Execution.Progress progress, Outcome outcome, boolean mayHaveEntered) {
    boolean again = Execution.finish(executionId, progress, outcome, mayHaveEntered, random);
    locks.end(executionId);
    return again;
  }
}
