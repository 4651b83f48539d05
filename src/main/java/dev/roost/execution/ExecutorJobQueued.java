package dev.roost.execution;

/**
 * Told after ExecutorJobs were queued: executors may be waiting for them.
 *
 * @param jobs how many
 */
public record ExecutorJobQueued(String agentId, int agentRevision, int jobs) {
  /** Of one job. */
  public ExecutorJobQueued(String agentId, int agentRevision) {
    this(agentId, agentRevision, 1);
  }
}
