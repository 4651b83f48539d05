package dev.roost.runtime;

/** Something has happened to a build or an executor: it is worth a look. */
public record RuntimeChanged() {}
