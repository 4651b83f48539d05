package dev.roost.api;

import dev.roost.config.RoostConfig;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Says who calls. Known keys are remembered for a few seconds, so that a request costs no query.
 */
@ApplicationScoped
public class Authentication {
  /** How long a key that was deleted through another replica works here at most. */
  private static final long REMEMBER_NANOS = 5_000_000_000L;

  private final Map<String, Known> known = new ConcurrentHashMap<>();
  private final int requestsPerMinute;

  Authentication(RoostConfig config) {
    this.requestsPerMinute = config.limits().requestsPerMinute();
  }

  /** A key that was found in the database, and how often it was used in the current minute. */
  private static final class Known {
    final Role role;
    final byte[] secretSha256;
    final long readAt = System.nanoTime();
    long minute;
    int requests;

    Known(ApiKey key) {
      this.role = Role.of(key.role);
      this.secretSha256 = key.secretSha256;
    }
  }

  /**
   * @param authorization the header, or null
   * @throws Problem unauthenticated or rate_limited
   */
  Role roleOf(String authorization) {
    if (authorization == null || !authorization.regionMatches(true, 0, "Bearer ", 0, 7)) {
      throw unauthenticated("Send an API key: \"Authorization: Bearer roost_…\".");
    }
    String[] parts = authorization.substring(7).strip().split("_", 3);
    if (parts.length != 3 || !parts[0].equals("roost")) {
      throw unauthenticated("That is not an API key; one looks like roost_<id>_<secret>.");
    }
    Known key = known(parts[1]).orElseThrow(() -> unauthenticated("There is no such API key."));
    if (!MessageDigest.isEqual(key.secretSha256, Text.sha256(parts[2]))) {
      throw unauthenticated("There is no such API key.");
    }
    count(key);
    return key.role;
  }

  void forget(@Observes KeyDeleted event) {
    forget(event.keyId());
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
    Known fresh = new Known(row);
    if (cached != null) {
      fresh.minute = cached.minute;
      fresh.requests = cached.requests;
    }
    known.put(id, fresh);
    return Optional.of(fresh);
  }

  private void count(Known key) {
    if (requestsPerMinute == 0) {
      return;
    }
    synchronized (key) {
      long seconds = System.nanoTime() / 1_000_000_000L;
      if (key.minute != seconds / 60) {
        key.minute = seconds / 60;
        key.requests = 0;
      }
      if (++key.requests > requestsPerMinute) {
        throw Problem.retryLater(
            ErrorCode.RATE_LIMITED,
            "This key has used its %,d requests of this minute.".formatted(requestsPerMinute),
            60 - seconds % 60);
      }
    }
  }

  private static Problem unauthenticated(String detail) {
    return Problem.of(ErrorCode.UNAUTHENTICATED, detail)
        .withHeader("WWW-Authenticate", "Bearer realm=\"Roost\"");
  }
}
