package dev.roost.api;

import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.time.Instant;

/** An API key. Only the SHA-256 of its secret is stored. */
@Entity(name = "api_key")
public class ApiKey extends PanacheEntityBase {
  @Id public String id;
  public String name;
  public String role;

  @Column(name = "secret_sha256")
  public byte[] secretSha256;

  public Instant createdAt;

  /**
   * A new key and its text, which is shown once and never stored.
   *
   * @param text {@code roost_<key id>_<secret>}; the key id has no prefix here
   */
  public record Created(ApiKey key, String text) {}

  public static Created make(String name, Role role, Instant now) {
    String secret = Secrets.next();
    ApiKey key = new ApiKey();
    key.id = Ids.next("key");
    key.name = name;
    key.role = role.code();
    key.secretSha256 = Text.sha256(secret);
    key.createdAt = now;
    key.persist();
    return new Created(key, "roost_" + key.id.substring("key_".length()) + "_" + secret);
  }
}
