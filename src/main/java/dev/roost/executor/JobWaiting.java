package dev.roost.executor;

import dev.roost.cluster.Shared;

/** Fired when a job found no waiting executor on this replica: one may wait on another replica. */
public record JobWaiting(String agentId, int agentRevision) implements Shared {}
