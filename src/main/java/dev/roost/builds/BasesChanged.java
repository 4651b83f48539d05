package dev.roost.builds;

/** Fired on the leader when the tag of a base image resolves to a different image than before. */
public record BasesChanged() {}
