package dev.roost.executor;

import dev.roost.cluster.Shared;

/**
 * Told when a job found no executor waiting, or room has become free: there may be executors to
 * start or remove.
 */
public record ExecutorsNeeded() implements Shared.WithLeader {}
