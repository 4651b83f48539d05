package dev.roost.api;

import java.time.Instant;

/**
 * The sender of a request, authenticated by an API key, a session or an access token.
 *
 * @param keyId of an access token: the identifier of its subject, see {@link
 *     dev.roost.oauth.AccessToken#id}
 * @param keyMadeAt when the key was created, or the access token was issued
 * @param session null: authenticated by the key's text, or by an access token
 * @param expiresAt when the access token ends; null: another credential
 */
record Identity(
    String keyId,
    String keyName,
    Role role,
    Instant keyMadeAt,
    Sessions.Session session,
    Instant expiresAt) {
  boolean isOfToken() {
    return expiresAt != null;
  }

  Credential credential() {
    return new Credential(keyId, session == null ? null : session.id(), expiresAt);
  }
}
