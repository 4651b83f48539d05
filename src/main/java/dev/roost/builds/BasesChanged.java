package dev.roost.builds;

/** Told on the leader when the tag of a base image names another image than before. */
public record BasesChanged() {}
