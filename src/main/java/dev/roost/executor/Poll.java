package dev.roost.executor;

import java.util.Set;

/**
 * What an executor says of itself with a poll.
 *
 * @param number of this poll, from 1; null when the executor doesn't count its polls
 * @param prepared whether the executor has the agent's script already
 * @param drafts whether the executor can run drafts, which those of earlier releases can't
 * @param running the Executions that it has and that have not ended, while there is a place for
 *     another one; empty when its process runs one at a time, since it polls between them
 */
record Poll(Integer number, boolean prepared, boolean drafts, Set<String> running) {
  Poll(Integer number, boolean prepared, boolean drafts) {
    this(number, prepared, drafts, Set.of());
  }
}
