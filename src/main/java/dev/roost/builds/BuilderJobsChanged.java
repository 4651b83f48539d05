package dev.roost.builds;

import dev.roost.cluster.Shared;

/** Fired when a BuilderJob was created or cancelled: a build may have to start or stop. */
public record BuilderJobsChanged() implements Shared.WithLeader {}
