package dev.roost.executor;

import dev.roost.cluster.Shared;

/** Fired when an executor is to stop or has ended: the replica that it polls answers its poll. */
public record ExecutorStopped(String executorId) implements Shared {}
