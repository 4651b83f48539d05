package dev.roost.executor;

import dev.roost.api.Body;
import dev.roost.api.Ids;
import dev.roost.datastore.Access;
import dev.roost.datastore.Operation;
import dev.roost.datastore.Operations;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.Optional;

/** The operations of scripts on their stores. */
@ApplicationScoped
class StoreRoute {
  private static final String PATH = "/internal/v1/datastores/:store/operations";

  private final ScriptCalls calls;
  private final Operations operations;

  StoreRoute(ScriptCalls calls, Operations operations) {
    this.calls = calls;
    this.operations = operations;
  }

  void routes(@Observes Router router) {
    calls.route(router, PATH, "store", this::operate);
  }

  /** Empty when the answer comes later, since the operation waits for a lock. */
  private Optional<Object> operate(
      RoutingContext context, String executorId, String storeId, Body body) {
    String executionId = body.string("execution_id").orElse("");
    Optional<String> channel = body.string("channel");
    Optional<Long> seq = body.wholeNumber("seq");
    Operation operation = Operation.of(body);
    // Sidecars from before idempotency records don't number their writes.
    Access.Idempotency idempotency =
        operation.isWrite()
            ? new Access.Idempotency(
                executionId, channel.orElseGet(() -> Ids.next("write")), seq.orElse(1L), null)
            : null;
    Access access = StoreAccess.of(storeId, executorId, executionId, idempotency);
    if (operation instanceof Operation.Lock lock) {
      operations
          .lock(access, lock)
          .subscribe()
          .with(answer -> calls.send(context, answer), e -> calls.sendProblem(context, e));
      return Optional.empty();
    }
    return Optional.of(operations.run(access, operation));
  }
}
