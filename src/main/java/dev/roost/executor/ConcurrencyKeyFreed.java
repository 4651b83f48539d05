package dev.roost.executor;

import dev.roost.cluster.Shared;

/** Told when an execution with a concurrency key has ended: the next one may begin. */
public record ConcurrencyKeyFreed(String agentId) implements Shared {}
