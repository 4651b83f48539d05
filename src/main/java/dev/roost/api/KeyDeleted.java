package dev.roost.api;

/** Fired after an API key was deleted: caches must drop the key. */
public record KeyDeleted(String keyId) {}
