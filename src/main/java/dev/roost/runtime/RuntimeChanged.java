package dev.roost.runtime;

/** The state of a build or an executor may have changed: reconcilers should check. */
public record RuntimeChanged() {}
