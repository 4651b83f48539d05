package dev.roost.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The identity of a client.
 *
 * @param createdAt creation of the session; without a session, creation of the key
 * @param expiresAt when an unused session ends, or the access token expires; null with a key
 * @param pageToken null: omitted from the response
 */
@Schema(name = "Session")
record SessionView(
    @Schema(
            description =
                "The API key of the session, or of the request; or the subject of its access token")
        Key key,
    @Schema(description = "When the session began; with an API key, when the key was created")
        Instant createdAt,
    @Schema(
            nullable = true,
            description =
                "When the session expires if it is not used, or the access token expires; null with an API key")
        Instant expiresAt,
    @JsonInclude(JsonInclude.Include.NON_NULL)
        @Schema(
            description =
                "Only in the response to sign-in: the page token, to send with the cookie in the header "
                    + RequestFilters.PAGE_TOKEN)
        String pageToken) {

  @Schema(name = "SessionKey")
  record Key(
      @Schema(examples = "key_01jd4m8z6hf0r9w2x3c5v7b8na") String id,
      @Schema(description = "The name of the key", examples = "first key") String name,
      @Schema(
              description = "The role of the key, which is also that of the session",
              examples = "write")
          Role role) {}

  static SessionView of(Identity identity, String pageToken) {
    Key key = new Key(identity.keyId(), identity.keyName(), identity.role());
    Sessions.Session session = identity.session();
    return session == null
        ? new SessionView(key, identity.keyMadeAt(), identity.expiresAt(), pageToken)
        : new SessionView(key, session.createdAt(), session.expiresAt(), pageToken);
  }
}
