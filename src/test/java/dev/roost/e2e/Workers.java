package dev.roost.e2e;

import java.util.List;
import java.util.Map;

/** What works for a Roost, as one sees it from outside: what tests look at, count and kill. */
interface Workers extends AutoCloseable {
  /**
   * Environment variables of the control plane.
   *
   * @param port that it will listen on
   */
  Map<String, String> settings(int port);

  /**
   * Waits for an executor of the agent.
   *
   * @param part runner or sidecar
   */
  Worker executorOf(String agentId, String part);

  /** Waits for the process of a script of the agent, of which one runs. */
  Machine.Running scriptOf(String agentId);

  /** Waits until that build is at work. */
  Worker builderOf(String builderJobId);

  /** Whether anything of that build is still there. */
  boolean isBuilding(String builderJobId);

  /** The results of builds that there are, sorted; by names that mean nothing else. */
  List<String> builds();

  /** Whether it shows that the agent has an executor that was started for a pool. */
  boolean hasPooledExecutor(String agentId);

  /** Waits until it does. */
  default void awaitPooledExecutorOf(String agentId) {
    Eventually.until(
        "an executor of a pool is labelled with " + agentId, () -> hasPooledExecutor(agentId));
  }

  /** Kills the executors of pools that no agent has; returns how many. */
  int killPooled();

  /** Executors of one agent that start within reasonable time. */
  int many();

  @Override
  void close();
}
