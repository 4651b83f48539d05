package dev.roost.api;

import dev.roost.config.RoostConfig;
import dev.roost.db.Sql;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import jakarta.persistence.EntityManager;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Sessions of signed-in browsers. A session ends when its key is deleted, its lifetime expires or
 * its user signs out; use extends the lifetime. A session has two secrets: the cookie's secret,
 * which browsers send to every port of the host, and the page token, which only pages of this
 * Roost's origin can read. Each secret is useless without the other. Known sessions are cached for
 * a few seconds, so that most requests need no query.
 */
@ApplicationScoped
class Sessions {
  /** The longest time that a session ended through another replica works on this replica. */
  private static final long REMEMBER_NANOS = 5_000_000_000L;

  /** The shortest time between two extensions of a session's lifetime. */
  private static final Duration BETWEEN_RENEWALS = Duration.ofDays(1);

  private static final Sql START =
      Sql.of(
          """
          insert into login_session (secret_sha256, page_token_sha256, key_id, created_at, expires_at)
          values (:hash, :pageToken, :key, :now, :expires)""");

  private static final Sql FIND =
      Sql.of(
          """
          select page_token_sha256, key_id, created_at, expires_at from login_session
          where secret_sha256 = :hash and expires_at > :now""");

  private static final Sql RENEW =
      Sql.of(
          """
          update login_session set expires_at = :expires
          where secret_sha256 = :hash and expires_at = :before""");

  private static final Sql END =
      Sql.of(
          "delete from login_session where secret_sha256 = :hash and page_token_sha256 = :pageToken");

  private final EntityManager entities;
  private final Clock clock;
  private final Duration lifetime;
  private final Event<SessionEnded> ended;

  /** Cached sessions by hash of the secret. */
  private final Map<ByteBuffer, Known> known = new ConcurrentHashMap<>();

  Sessions(EntityManager entities, RoostConfig config, Clock clock, Event<SessionEnded> ended) {
    this.entities = entities;
    this.clock = clock;
    this.lifetime = config.sessions().lifetime();
    this.ended = ended;
  }

  /**
   * @param id the hash of the session's secret, in hexadecimal digits
   * @param renewed whether the lifetime was just extended, so that the cookie must be renewed, too
   */
  record Session(String id, String keyId, Instant createdAt, Instant expiresAt, boolean renewed) {}

  /**
   * A new session with its secrets, which are never stored.
   *
   * @param secret the value of the cookie
   * @param pageToken the header that belongs to the cookie
   */
  record Started(String secret, String pageToken, Session session) {}

  private record Known(Session session, byte[] pageTokenSha256, long readAt) {
    boolean isFresh() {
      return System.nanoTime() - readAt < REMEMBER_NANOS;
    }

    Optional<Known> with(String pageToken) {
      boolean same = MessageDigest.isEqual(pageTokenSha256, Text.sha256(pageToken));
      return same ? Optional.of(this) : Optional.empty();
    }
  }

  Duration lifetime() {
    return lifetime;
  }

  /** Starts a session in the caller's transaction. */
  Started start(String keyId) {
    Instant now = clock.instant();
    String secret = Secrets.next();
    String pageToken = Secrets.next();
    byte[] sha256 = Text.sha256(secret);
    Session session = new Session(id(sha256), keyId, now, now.plus(lifetime), false);
    START
        .with("hash", sha256)
        .with("pageToken", Text.sha256(pageToken))
        .with("key", keyId)
        .with("now", now)
        .with("expires", session.expiresAt())
        .update(entities);
    return new Started(secret, pageToken, session);
  }

  /** The session with both secrets, until its lifetime expires. */
  Optional<Session> find(String secret, String pageToken) {
    byte[] sha256 = Text.sha256(secret);
    ByteBuffer hash = ByteBuffer.wrap(sha256);
    Instant now = clock.instant();
    Known remembered = known.get(hash);
    if (remembered != null && remembered.isFresh()) {
      return remembered
          .with(pageToken)
          .map(Known::session)
          .filter(session -> session.expiresAt().isAfter(now));
    }
    Optional<Known> found =
        QuarkusTransaction.requiringNew().call(() -> read(sha256, pageToken, now));
    known.values().removeIf(old -> !old.isFresh());
    found.ifPresent(
        one ->
            known.put(
                hash, new Known(notRenewed(one.session()), one.pageTokenSha256(), one.readAt())));
    return found.map(Known::session);
  }

  private Optional<Known> read(byte[] sha256, String pageToken, Instant now) {
    return FIND.with("hash", sha256)
        .with("now", now)
        .first(
            entities,
            row ->
                new Known(
                    new Session(
                        id(sha256),
                        row.getString("key_id"),
                        Sql.instant(row, "created_at"),
                        Sql.instant(row, "expires_at"),
                        false),
                    row.getBytes("page_token_sha256"),
                    System.nanoTime()))
        .flatMap(one -> one.with(pageToken))
        .map(
            one ->
                new Known(renew(sha256, one.session(), now), one.pageTokenSha256(), one.readAt()));
  }

  private static Session notRenewed(Session session) {
    return new Session(
        session.id(), session.keyId(), session.createdAt(), session.expiresAt(), false);
  }

  private Session renew(byte[] sha256, Session session, Instant now) {
    Instant expiresAt = now.plus(lifetime);
    if (expiresAt.isBefore(session.expiresAt().plus(BETWEEN_RENEWALS))) {
      return session;
    }
    boolean renewed =
        RENEW
                .with("hash", sha256)
                .with("expires", expiresAt)
                .with("before", session.expiresAt())
                .update(entities)
            == 1;
    return renewed
        ? new Session(session.id(), session.keyId(), session.createdAt(), expiresAt, true)
        : session;
  }

  /** Ends a session; harmless if no session has these secrets. */
  void end(String secret, String pageToken) {
    byte[] sha256 = Text.sha256(secret);
    int done =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    END.with("hash", sha256)
                        .with("pageToken", Text.sha256(pageToken))
                        .update(entities));
    if (done == 0) {
      return;
    }
    forget(id(sha256));
    ended.fire(new SessionEnded(id(sha256)));
  }

  private static String id(byte[] sha256) {
    return HexFormat.of().formatHex(sha256);
  }

  /** Removes a session that was ended through another replica from the cache. */
  void forget(String sessionId) {
    known.remove(ByteBuffer.wrap(HexFormat.of().parseHex(sessionId)));
  }

  /**
   * Removes the sessions of a deleted key from the cache; the database has already deleted them.
   */
  void forget(@Observes KeyDeleted event) {
    known.values().removeIf(one -> one.session().keyId().equals(event.keyId()));
  }

  /** Clears the cache. */
  void forget() {
    known.clear();
  }
}
