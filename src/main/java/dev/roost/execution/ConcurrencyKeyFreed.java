package dev.roost.execution;

import dev.roost.cluster.Shared;

/**
 * Fired when an execution with a concurrency key has ended, or a job that held one: the next job
 * with that key may start.
 */
public record ConcurrencyKeyFreed(String agentId) implements Shared {}
