package dev.roost.api;

import dev.roost.config.RoostConfig;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Authenticates callers. Known keys are cached for a few seconds, so that most requests need no
 * query.
 */
@ApplicationScoped
public class Authentication {
  /** The longest time that a key deleted through another replica works on this replica. */
  private static final long REMEMBER_NANOS = 5_000_000_000L;

  /** Begins the text of API keys, and no access token. */
  private static final String KEY = "roost_";

  private final Map<String, Known> known = new ConcurrentHashMap<>();
  private final Sessions sessions;
  private final TokenSenders tokens;
  private final int requestsPerMinute;

  Authentication(Sessions sessions, TokenSenders tokens, RoostConfig config) {
    this.sessions = sessions;
    this.tokens = tokens;
    this.requestsPerMinute = config.limits().requestsPerMinute();
  }

  /** A key from the database and the count of its requests. */
  private static final class Known {
    final String id;
    final String name;
    final Role role;
    final Instant createdAt;
    final byte[] secretSha256;
    final long readAt = System.nanoTime();
    final RequestCount requests;

    Known(ApiKey key, RequestCount requests) {
      this.requests = requests;
      this.id = key.id;
      this.name = key.name;
      this.role = Role.of(key.role);
      this.createdAt = key.createdAt;
      this.secretSha256 = key.secretSha256;
    }
  }

  /**
   * A key takes precedence over a session.
   *
   * @param authorization the header, or null
   * @param session the value of the session cookie
   * @param pageToken the header that belongs to the cookie, or null
   * @throws Problem unauthenticated, forbidden, rate_limited, unavailable
   */
  Identity identify(String authorization, Optional<String> session, String pageToken) {
    if (authorization == null && session.isPresent()) {
      if (pageToken == null) {
        throw unauthenticated(
            ("The session cookie requires the page token of the session (header \"%s\"). In a browser, "
                    + "reload the page and sign in.")
                .formatted(RequestFilters.PAGE_TOKEN));
      }
      return of(
          sessions
              .find(session.get(), pageToken)
              .orElseThrow(() -> unauthenticated("The session has ended; sign in again.")));
    }
    if (authorization == null || !authorization.regionMatches(true, 0, "Bearer ", 0, 7)) {
      throw unauthenticated(
          tokens.areTaken()
              ? "Send an API key (\"Authorization: Bearer roost_…\") or an access token."
              : "Send an API key: \"Authorization: Bearer roost_…\".");
    }
    String text = authorization.substring(7).strip();
    return tokens.areTaken() && !text.startsWith(KEY) ? tokens.identify(text) : ofKey(text);
  }

  /**
   * Authenticates a request outside of JAX-RS, which needs a key or an access token; a session
   * isn't enough. Reads the database.
   *
   * @throws Problem unauthenticated, forbidden, rate_limited, unavailable
   */
  public Credential requireKey(RoutingContext context, Role needed) {
    Identity identity =
        identify(context.request().getHeader("Authorization"), Optional.empty(), null);
    AccessLog.sentWith(context, identity.keyId());
    require(identity, needed);
    return identity.credential();
  }

  /**
   * @throws Problem forbidden
   */
  void require(Identity identity, Role needed) {
    if (!identity.role().allows(needed)) {
      throw identity.isOfToken()
          ? tokens.insufficient(
              "This access token has the role \"%s\"; the request requires \"%s\"."
                  .formatted(identity.role().code(), needed.code()),
              needed)
          : Problem.of(
              ErrorCode.FORBIDDEN,
              "This API key has the role \"%s\"; the request requires \"%s\"."
                  .formatted(identity.role().code(), needed.code()));
    }
  }

  /**
   * @param text the text of an API key
   * @throws Problem unauthenticated or rate_limited
   */
  Identity ofKey(String text) {
    String[] parts = text.split("_", 3);
    if (parts.length != 3 || !parts[0].equals("roost")) {
      throw unauthenticated("This is not an API key. API keys have the form roost_<id>_<secret>.");
    }
    Known key = known(parts[1]).orElseThrow(Authentication::noSuchKey);
    if (!MessageDigest.isEqual(key.secretSha256, Text.sha256(parts[2]))) {
      throw noSuchKey();
    }
    count(key);
    return identity(key, null);
  }

  /**
   * @throws Problem unauthenticated or rate_limited
   */
  Identity of(Sessions.Session session) {
    Known key =
        known(session.keyId().substring("key_".length())).orElseThrow(Authentication::noSuchKey);
    count(key);
    return identity(key, session);
  }

  private static Identity identity(Known key, Sessions.Session session) {
    return new Identity(key.id, key.name, key.role, key.createdAt, session, null);
  }

  void forget(@Observes KeyDeleted event) {
    forget(event.keyId());
  }

  /** Removes a session from the cache after its user has signed out at another replica. */
  public void forgetSession(String sessionId) {
    sessions.forget(sessionId);
  }

  public void forget(String keyId) {
    known.remove(keyId.substring("key_".length()));
  }

  private Optional<Known> known(String id) {
    Known cached = known.get(id);
    if (cached != null && System.nanoTime() - cached.readAt < REMEMBER_NANOS) {
      return Optional.of(cached);
    }
    ApiKey row = QuarkusTransaction.requiringNew().call(() -> ApiKey.findById("key_" + id));
    if (row == null) {
      known.remove(id);
      return Optional.empty();
    }
    Known fresh = new Known(row, cached == null ? new RequestCount() : cached.requests);
    known.put(id, fresh);
    return Optional.of(fresh);
  }

  private void count(Known key) {
    key.requests.add(System.nanoTime(), requestsPerMinute, "This API key");
  }

  private static Problem noSuchKey() {
    return unauthenticated("This API key does not exist.");
  }

  static Problem unauthenticated(String detail) {
    return Problem.of(ErrorCode.UNAUTHENTICATED, detail)
        .withHeader("WWW-Authenticate", "Bearer realm=\"Roost\"");
  }
}
