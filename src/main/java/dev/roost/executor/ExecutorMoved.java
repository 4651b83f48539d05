package dev.roost.executor;

import dev.roost.cluster.Shared;

/**
 * Fired when an executor that polled another replica polls here: the other replicas' state is
 * stale.
 */
public record ExecutorMoved(String executorId) implements Shared {}
