package dev.roost.execution;

/**
 * Fired after ExecutorJobs were queued: executors may be waiting for them.
 *
 * @param jobs how many
 */
public record ExecutorJobQueued(String agentId, int agentRevision, int jobs) {
  public ExecutorJobQueued(String agentId, int agentRevision) {
    this(agentId, agentRevision, 1);
  }
}
