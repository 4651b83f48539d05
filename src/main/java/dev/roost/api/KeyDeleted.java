package dev.roost.api;

/** Told after an API key was deleted: nobody may remember it. */
public record KeyDeleted(String keyId) {}
