package dev.roost.execution;

import dev.roost.state.ExecutionState;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Decides whether and when an ExecutorJob is tried again after an attempt. Pure. */
final class Retry {
  /** After this many lost attempts that did not reach main, a further one counts. */
  private static final int MAX_FREE = 3;

  private static final double LONGEST_SECONDS = 86_400;

  private Retry() {}

  /**
   * The attempt that has just ended.
   *
   * @param attempts that count so far, including this one
   * @param entered whether main was called, or may have been called
   * @param lostBefore earlier attempts of this job that were lost
   */
  record Attempt(
      Outcome outcome,
      int attempts,
      boolean entered,
      long lostBefore,
      boolean cancelRequested,
      boolean agentDeleted) {}

  /**
   * The agent's settings.
   *
   * @param delaySeconds before the second attempt; doubled for each further attempt
   * @param never codes of reasons after which there is no further attempt
   */
  record Rules(int maxAttempts, double delaySeconds, Set<String> never) {}

  /**
   * @param delay until the next attempt
   * @param free whether the attempt that ended doesn't count
   */
  record Again(Duration delay, boolean free) {}

  static Optional<Again> decide(Attempt attempt, Rules rules, RandomGenerator random) {
    Outcome outcome = attempt.outcome();
    if (outcome.state() == ExecutionState.SUCCEEDED
        || outcome.state() == ExecutionState.CANCELLED
        || attempt.cancelRequested()
        || attempt.agentDeleted()) {
      return Optional.empty();
    }
    if (outcome.state() == ExecutionState.LOST
        && !attempt.entered()
        && attempt.lostBefore() < MAX_FREE) {
      return Optional.of(new Again(Duration.ZERO, true));
    }
    if (attempt.attempts() >= rules.maxAttempts()
        || !outcome.reason().isTransient()
        || rules.never().contains(outcome.reason().code())) {
      return Optional.empty();
    }
    double doubled = rules.delaySeconds() * Math.pow(2, attempt.attempts() - 1.0);
    double jittered = Math.min(LONGEST_SECONDS, doubled) * (0.5 + random.nextDouble() / 2);
    return Optional.of(new Again(Duration.ofNanos((long) (jittered * 1e9)), false));
  }
}
