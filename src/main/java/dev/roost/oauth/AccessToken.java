package dev.roost.oauth;

import java.time.Instant;
import java.util.Set;

/**
 * A verified access token.
 *
 * @param id of its subject at its issuer: {@code oauth_} and 32 hexadecimal digits; the same for
 *     each token of the subject
 * @param name for people; not unique
 * @param roles the values of the claim with the roles
 * @param expiresAt when it ends, with the leeway for clocks
 */
public record AccessToken(
    String id, String name, Set<String> roles, Instant issuedAt, Instant expiresAt) {
  private static final String PREFIX = "oauth_";

  static String id(String hex) {
    return PREFIX + hex;
  }

  /** Whether the identifier is that of a token's subject, and not that of an API key. */
  public static boolean isSubject(String id) {
    return id.startsWith(PREFIX);
  }
}
