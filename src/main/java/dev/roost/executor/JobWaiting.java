package dev.roost.executor;

import dev.roost.cluster.Shared;

/** Told when a job found no executor waiting on this replica: on another one, there may be some. */
public record JobWaiting(String agentId, int agentRevision) implements Shared {}
