package dev.roost.executor;

import dev.roost.cluster.Shared;

/** Told when an executor is to stop, or is no more: wherever it polls, it is told so. */
public record ExecutorStopped(String executorId) implements Shared {}
