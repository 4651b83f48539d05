package dev.roost.build;

/** Told on the leader when the tag of a base image names another image than before. */
public record BasesChanged() {}
