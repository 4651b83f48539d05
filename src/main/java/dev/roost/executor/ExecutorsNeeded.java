package dev.roost.executor;

import dev.roost.cluster.Shared;

/**
 * Fired when a job found no waiting executor or capacity has become free: executors may have to be
 * started or removed.
 */
public record ExecutorsNeeded() implements Shared.WithLeader {}
