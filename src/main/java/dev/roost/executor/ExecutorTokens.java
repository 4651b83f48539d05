package dev.roost.executor;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.db.Sql;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.interceptor.Interceptor;
import jakarta.persistence.EntityManager;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The bearer tokens of executors: {@code <executor id>.<expiry, epoch seconds>.<HMAC-SHA-256 of
 * both, hexadecimal>}. The signing key is created once and stored in the database, so that every
 * replica accepts every token.
 */
@ApplicationScoped
public class ExecutorTokens {
  private static final Sql STORE =
      Sql.of(
          """
          insert into setting (name, value) values ('executor_signing_key', :key)
          on conflict do nothing
          """);

  private static final Sql STORED =
      Sql.of("select value from setting where name = 'executor_signing_key'");

  private static final Duration LIFE = Duration.ofHours(48);

  /** A token that is valid for less than this is replaced: an execution may take 24 hours. */
  private static final Duration RENEW = Duration.ofHours(25);

  private static final String ALGORITHM = "HmacSHA256";

  private final EntityManager entities;
  private final Clock clock;
  private volatile SecretKeySpec key;

  /** Of each thread, since looking the algorithm up takes longer than signing. */
  private final ThreadLocal<Mac> mac = ThreadLocal.withInitial(this::mac);

  ExecutorTokens(EntityManager entities, Clock clock) {
    this.entities = entities;
    this.clock = clock;
  }

  /**
   * Runs before the first request: {@link StoreRoute} verifies on an event loop, which must not
   * block.
   */
  void load(@Observes @Priority(Interceptor.Priority.LIBRARY_BEFORE) StartupEvent event) {
    key();
  }

  String make(String executorId) {
    String claim = executorId + "." + clock.instant().plus(LIFE).getEpochSecond();
    return claim + "." + sign(claim);
  }

  /**
   * Returns the executor that a request comes from.
   *
   * @param authorization the header, or null
   * @throws Problem unauthenticated
   */
  Bearer verify(String authorization) {
    if (authorization == null || !authorization.startsWith("Bearer ")) {
      throw refused();
    }
    String token = authorization.substring(7);
    int signatureAt = token.lastIndexOf('.');
    int expiryAt = token.indexOf('.');
    if (expiryAt <= 0 || signatureAt <= expiryAt) {
      throw refused();
    }
    String claim = token.substring(0, signatureAt);
    byte[] expected = sign(claim).getBytes(StandardCharsets.US_ASCII);
    byte[] given = token.substring(signatureAt + 1).getBytes(StandardCharsets.UTF_8);
    if (!MessageDigest.isEqual(expected, given)) {
      throw refused();
    }
    Instant expiry = Instant.ofEpochSecond(Long.parseLong(claim.substring(expiryAt + 1)));
    Instant now = clock.instant();
    if (expiry.isBefore(now)) {
      throw refused();
    }
    return new Bearer(claim.substring(0, expiryAt), expiry.minus(RENEW).isBefore(now));
  }

  /**
   * @param renew whether the executor needs a new token
   */
  record Bearer(String executorId, boolean renew) {}

  private String sign(String claim) {
    return HexFormat.of().formatHex(mac.get().doFinal(claim.getBytes(StandardCharsets.UTF_8)));
  }

  private Mac mac() {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key());
      return mac;
    } catch (GeneralSecurityException e) {
      throw new AssertionError("every Java platform has HmacSHA256", e);
    }
  }

  private SecretKeySpec key() {
    if (key == null) {
      byte[] fresh = new byte[32];
      new SecureRandom().nextBytes(fresh);
      String hex =
          QuarkusTransaction.requiringNew().call(() -> stored(HexFormat.of().formatHex(fresh)));
      key = new SecretKeySpec(HexFormat.of().parseHex(hex), ALGORITHM);
    }
    return key;
  }

  /** Returns the key in the database; stores the given one when there is none. */
  private String stored(String fresh) {
    STORE.with("key", fresh).update(entities);
    return STORED.with().first(entities, row -> row.getString("value")).orElseThrow();
  }

  private static Problem refused() {
    return Problem.of(ErrorCode.UNAUTHENTICATED, "This executor token is not valid.");
  }
}
