package dev.roost.api;

/**
 * Fired after a user has signed out.
 *
 * @param sessionId as in {@link Caller#sessionId}
 */
public record SessionEnded(String sessionId) {}
