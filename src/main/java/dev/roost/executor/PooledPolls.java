package dev.roost.executor;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The polls of executors without an agent that wait on this replica. */
final class PooledPolls {
  private final Map<String, CompletableFuture<Boolean>> waits = new ConcurrentHashMap<>();

  boolean isEmpty() {
    return waits.isEmpty();
  }

  /**
   * The poll's wait. An earlier poll of the executor ends: it polls once at a time, so that
   * connection is lost.
   *
   * @return true: the executor's state may have changed, and must be read again; false: the wait
   *     ends without a change
   */
  CompletableFuture<Boolean> begin(String executorId) {
    CompletableFuture<Boolean> wait = new CompletableFuture<>();
    CompletableFuture<Boolean> earlier = waits.put(executorId, wait);
    if (earlier != null) {
      earlier.complete(false);
    }
    wait.whenComplete((changed, failure) -> waits.remove(executorId, wait));
    return wait;
  }

  /** The executor has got an agent, or is to stop. */
  void changed(String executorId) {
    complete(executorId, true);
  }

  void end(String executorId) {
    complete(executorId, false);
  }

  private void complete(String executorId, boolean changed) {
    CompletableFuture<Boolean> wait = waits.get(executorId);
    if (wait != null) {
      wait.complete(changed);
    }
  }

  void endAll() {
    List.copyOf(waits.values()).forEach(wait -> wait.complete(false));
  }
}
