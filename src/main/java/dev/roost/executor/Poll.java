package dev.roost.executor;

/**
 * What an executor says of itself with a poll.
 *
 * @param number of this poll, from 1; null when the executor doesn't count its polls
 * @param prepared whether the executor has the agent's script already
 * @param drafts whether the executor can run drafts, which those of earlier releases can't
 */
record Poll(Integer number, boolean prepared, boolean drafts) {}
