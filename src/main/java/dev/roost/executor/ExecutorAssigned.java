package dev.roost.executor;

import dev.roost.cluster.Shared;

/** Fired when an executor of a pool has got its agent: its poll waits on one of the replicas. */
public record ExecutorAssigned(String executorId) implements Shared {}
