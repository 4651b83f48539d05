package dev.roost.executor;

import dev.roost.cluster.Shared;

/** Told when an executor that polled elsewhere before polls here: what others know of it is old. */
public record ExecutorMoved(String executorId) implements Shared {}
