package dev.roost.api;

/**
 * A user has signed out.
 *
 * @param sessionId as {@link Caller#sessionId}
 */
public record SessionEnded(String sessionId) {}
