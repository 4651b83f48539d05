package dev.roost.builds;

import dev.roost.cluster.Shared;

/**
 * Told when there is a new BuilderJob, or one was cancelled: there may be something to start or to
 * stop.
 */
public record BuilderJobsChanged() implements Shared.WithLeader {}
