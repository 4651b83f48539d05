package dev.roost.execution;

/** Told after an ExecutorJob was queued: an executor may be waiting for it. */
public record ExecutorJobQueued(String agentId, int agentRevision) {}
