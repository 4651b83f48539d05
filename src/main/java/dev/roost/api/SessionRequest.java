package dev.roost.api;

import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The credentials for signing in: one of the two fields. */
record SessionRequest(
    @Schema(
            type = org.eclipse.microprofile.openapi.annotations.enums.SchemaType.STRING,
            description = "An API key",
            examples = "roost_…")
        Optional<String> key,
    @Schema(
            type = org.eclipse.microprofile.openapi.annotations.enums.SchemaType.STRING,
            description = "The token of a login link")
        Optional<String> token) {

  /**
   * @throws Problem malformed_json, validation_failed
   */
  static SessionRequest of(byte[] utf8) {
    Body body = Body.parse(utf8);
    SessionRequest request = new SessionRequest(body.string("key"), body.string("token"));
    body.check();
    if (request.key.isPresent() == request.token.isPresent()) {
      throw Problem.invalid("", "contradictory", "Send either \"key\" or \"token\".");
    }
    return request;
  }
}
