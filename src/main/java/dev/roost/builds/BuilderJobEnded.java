package dev.roost.builds;

/** Told when a BuilderJob has ended: executions may wait for it. */
public record BuilderJobEnded(String builderJobId, String agentId, int agentRevision) {}
