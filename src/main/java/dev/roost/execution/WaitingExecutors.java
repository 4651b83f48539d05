package dev.roost.execution;

import java.util.Optional;

/** The executors that wait for work on this replica. */
public interface WaitingExecutors {
  /**
   * Takes an executor that waits for jobs of the agent off the queue, for one job.
   *
   * @return empty if none waits here, or jobs may be queued that come first
   */
  Optional<Reserved> reserve(String agentId);

  /** A reserved executor. One of the last three methods must be called, once. */
  interface Reserved {
    JobClaimer.Claimant claimant();

    /** Whether it has had no execution yet. */
    boolean cold();

    /** Answers its poll. */
    void give(Work work);

    /** It has got no work, and waits on. */
    void release();

    /** It may have got work that this process doesn't know: its next poll finds out. */
    void pollAgain();
  }
}
