package dev.roost.executor;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.datastore.Access;
import java.util.Map;

/** Executions may use only their agent's stores, on their own executor, and while they run. */
final class StoreAccess {
  private static final String RUNNING =
      """
      select 1 from execution x join agent_store s on s.agent_id = x.agent_id and s.store_id = :store
      where x.id = :execution and x.executor_id = :executor and x.state = 'running'""";

  // With the lock, either the end of the execution waits for the write, or the write sees the
  // end.
  private static final Access.Rule RULE = new Access.Rule(RUNNING, RUNNING + " for share of x");

  private StoreAccess() {}

  /**
   * @param idempotency the idempotency record of a write; otherwise null
   */
  static Access of(
      String storeId, String executorId, String executionId, Access.Idempotency idempotency) {
    return new Access(
        storeId,
        RULE,
        Map.of("execution", executionId, "executor", executorId),
        idempotency,
        () ->
            Problem.of(
                ErrorCode.FENCED,
                "The execution has ended, or its agent does not use the store " + storeId + "."));
  }
}
