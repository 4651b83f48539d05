package dev.roost.api;

import java.time.Instant;

/**
 * Who sends a request: an API key, by its text or by a session.
 *
 * @param keyMadeAt when the key was made
 * @param session null: by the key's text
 */
record Identity(
    String keyId, String keyName, Role role, Instant keyMadeAt, Sessions.Session session) {}
