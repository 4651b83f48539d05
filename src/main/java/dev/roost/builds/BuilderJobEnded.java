package dev.roost.builds;

/** Fired when a BuilderJob has ended: executions may be waiting for the build. */
public record BuilderJobEnded(String builderJobId, String agentId, int agentRevision) {}
