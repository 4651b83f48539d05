package dev.roost.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * An API key in API responses.
 *
 * @param key the key's text; only in the response to the key's creation
 */
@Schema(name = "ApiKey")
record KeyView(
    @Schema(examples = "key_01jd4m8z6hf0r9w2x3c5v7b8na") String id,
    @Schema(description = "The name of the key, not necessarily unique", examples = "dashboard")
        String name,
    @Schema(
            description = "The role. Each role includes the permissions of the roles before it",
            examples = "execute")
        Role role,
    Instant createdAt,
    @JsonInclude(Include.NON_NULL)
        @Schema(
            description = "Only in the response to its creation: the key to send as bearer token")
        String key) {
  static KeyView of(ApiKey key) {
    return new KeyView(key.id, key.name, Role.of(key.role), key.createdAt, null);
  }

  static KeyView of(ApiKey.Created created) {
    KeyView view = of(created.key());
    return new KeyView(view.id, view.name, view.role, view.createdAt, created.text());
  }
}
