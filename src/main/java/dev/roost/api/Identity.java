package dev.roost.api;

import java.time.Instant;

/**
 * The sender of a request, authenticated by an API key or a session.
 *
 * @param keyMadeAt when the key was created
 * @param session null: authenticated by the key's text
 */
record Identity(
    String keyId, String keyName, Role role, Instant keyMadeAt, Sessions.Session session) {}
