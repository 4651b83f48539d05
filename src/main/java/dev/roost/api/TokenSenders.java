package dev.roost.api;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.roost.config.RoostConfig;
import dev.roost.oauth.AccessToken;
import dev.roost.oauth.AccessTokens;
import dev.roost.oauth.KeysMissing;
import dev.roost.oauth.TokenRefused;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Authenticates by access tokens, and says what clients need to get one. */
@ApplicationScoped
class TokenSenders {
  static final String METADATA = "/.well-known/oauth-protected-resource";

  private static final String AUTHENTICATE = "WWW-Authenticate";
  private static final int RETRY_AFTER_SECONDS = 2;

  private final AccessTokens tokens;
  private final String rolesClaim;
  private final Map<Role, String> values = new EnumMap<>(Role.class);
  private final String publicUrl;
  private final int requestsPerMinute;
  private final Cache<String, RequestCount> counts =
      Caffeine.newBuilder().expireAfterAccess(Duration.ofMinutes(2)).build();

  TokenSenders(AccessTokens tokens, RoostConfig config) {
    this.tokens = tokens;
    this.rolesClaim = config.oauth().rolesClaim();
    values.put(Role.READ, config.oauth().readRole());
    values.put(Role.EXECUTE, config.oauth().executeRole());
    values.put(Role.WRITE, config.oauth().writeRole());
    this.publicUrl = PublicUrl.of(config).orElse("");
    this.requestsPerMinute = config.limits().requestsPerMinute();
  }

  boolean areTaken() {
    return tokens.issuer().isPresent();
  }

  /**
   * @throws Problem unauthenticated, forbidden, rate_limited, unavailable
   */
  Identity identify(String token) {
    AccessToken found;
    try {
      found = tokens.verify(token);
    } catch (TokenRefused e) {
      throw Problem.of(ErrorCode.UNAUTHENTICATED, e.getMessage())
          .withHeader(AUTHENTICATE, "Bearer realm=\"Roost\", error=\"invalid_token\"");
    } catch (KeysMissing e) {
      throw Problem.retryLater(ErrorCode.UNAVAILABLE, e.getMessage(), RETRY_AFTER_SECONDS);
    }
    count(found.id());
    return new Identity(
        found.id(), found.name(), role(found), found.issuedAt(), null, found.expiresAt());
  }

  private void count(String id) {
    counts
        .get(id, ignored -> new RequestCount())
        .add(System.nanoTime(), requestsPerMinute, "The subject of this access token");
  }

  private Role role(AccessToken token) {
    Role highest = null;
    for (Role role : Role.values()) {
      if (token.roles().contains(values.get(role))) {
        highest = role;
      }
    }
    if (highest == null) {
      throw insufficient(
          "The access token has no role of Roost: its claim %s must have one of: %s."
              .formatted(Text.quote(rolesClaim), String.join(", ", values.values())),
          Role.READ);
    }
    return highest;
  }

  /** A problem for an access token whose role is too low (RFC 6750). */
  Problem insufficient(String detail, Role needed) {
    return Problem.of(ErrorCode.FORBIDDEN, detail)
        .withHeader(
            AUTHENTICATE,
            "Bearer realm=\"Roost\", error=\"insufficient_scope\", scope=\"%s\""
                .formatted(values.get(needed)));
  }

  /**
   * Adds where a client finds out how to get a token (RFC 9728) to a problem that says that it
   * needs one.
   *
   * @param path of the request
   */
  Problem withMetadata(Problem problem, String path) {
    String challenge = problem.headers().get(AUTHENTICATE);
    if (!areTaken() || challenge == null) {
      return problem;
    }
    ProtectedResource resource = ProtectedResource.of(path);
    String scope =
        challenge.contains("scope=") || resource == ProtectedResource.API
            ? ""
            : ", scope=\"%s\"".formatted(values.get(resource.usual()));
    return problem.withHeader(
        AUTHENTICATE,
        "%s%s, resource_metadata=\"%s%s%s\""
            .formatted(challenge, scope, publicUrl, METADATA, resource.path()));
  }

  /**
   * The metadata of a resource; null: no tokens are taken.
   *
   * @see <a href="https://www.rfc-editor.org/rfc/rfc9728">RFC 9728</a>
   */
  Map<String, Object> metadata(ProtectedResource resource) {
    return tokens
        .issuer()
        .map(
            issuer ->
                Map.of(
                    "resource",
                    publicUrl + resource.path(),
                    "authorization_servers",
                    List.of(issuer),
                    "scopes_supported",
                    List.copyOf(values.values()),
                    "bearer_methods_supported",
                    List.of("header"),
                    "resource_name",
                    (Object) "Roost"))
        .orElse(null);
  }
}
