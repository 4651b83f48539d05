package dev.roost.build;

/**
 * Told when there is a new BuilderJob, or one was cancelled: there may be something to start or to
 * stop.
 */
public record BuilderJobsChanged() {}
