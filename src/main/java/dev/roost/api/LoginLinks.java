package dev.roost.api;

import dev.roost.db.Sql;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.persistence.EntityManager;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** Single-use links that sign a person in as the key for which the link was created. */
@ApplicationScoped
public class LoginLinks {
  private static final Duration LIFETIME = Duration.ofMinutes(10);

  /** For a client that used a link and did not receive the response. */
  private static final Duration REPEATABLE = Duration.ofMinutes(1);

  private static final Sql MAKE =
      Sql.of(
          """
          insert into login_link (secret_sha256, key_id, expires_at)
          select :hash, id, :expires from api_key where id = :key""");

  /** One statement, so that only one of two concurrent users of a link succeeds. */
  private static final Sql USE =
      Sql.of(
          """
          update login_link set used_by = :user, expires_at = least(expires_at, :end)
          where secret_sha256 = :hash and expires_at > :now and (used_by is null or used_by = :user)
          returning key_id""");

  private final EntityManager entities;
  private final Clock clock;

  LoginLinks(EntityManager entities, Clock clock) {
    this.entities = entities;
    this.clock = clock;
  }

  /**
   * @param url path and query, relative to this Roost's address
   */
  @Schema(name = "LoginLink")
  public record Link(
      @Schema(
              description =
                  "The path and query of the link, relative to the address of this Roost. The link can be "
                      + "used once.",
              examples = "/login?token=4e2a51…")
          String url,
      @Schema(description = "When the link expires: 10 minutes after its creation")
          Instant expiresAt) {}

  /** Creates a link; empty if the key no longer exists. */
  public Optional<Link> make(String keyId) {
    String token = Secrets.next();
    Instant expiresAt = clock.instant().plus(LIFETIME);
    int inserted =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    MAKE.with("hash", Text.sha256(token))
                        .with("key", keyId)
                        .with("expires", expiresAt)
                        .update(entities));
    return inserted == 1
        ? Optional.of(new Link("/login?token=" + token, expiresAt))
        : Optional.empty();
  }

  /**
   * Uses a link in the caller's transaction and returns the identifier of its key; empty if the
   * link was used before or has expired.
   *
   * @param idempotencyKey allows repeated use of the link with the same key for a minute; may be
   *     null
   */
  Optional<String> use(String token, String idempotencyKey) {
    Instant now = clock.instant();
    return USE.with("hash", Text.sha256(token))
        .with("user", Text.sha256(idempotencyKey == null ? Secrets.next() : idempotencyKey))
        .with("now", now)
        .with("end", now.plus(REPEATABLE))
        .first(entities, row -> row.getString("key_id"));
  }
}
