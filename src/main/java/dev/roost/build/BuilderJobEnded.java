package dev.roost.build;

/** Told when a BuilderJob has ended: executions may wait for it. */
public record BuilderJobEnded(String builderJobId, String agentId, int agentRevision) {}
