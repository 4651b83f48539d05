package dev.roost.api;

import java.time.Instant;

/**
 * What a request was authenticated with, without secrets; it ends when its key is deleted, its
 * session ends, or its access token expires.
 *
 * @param keyId the key, or the subject of the access token
 * @param sessionId null: not with a session
 * @param expiresAt null: not with an access token
 */
public record Credential(String keyId, String sessionId, Instant expiresAt) {}
