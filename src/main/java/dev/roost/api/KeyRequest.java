package dev.roost.api;

import java.util.Arrays;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A request to create an API key. */
record KeyRequest(
    @Schema(required = true, description = "A name, 1 to 100 characters", examples = "dashboard")
        String name,
    @Schema(
            required = true,
            description = "The role. Each role includes the permissions of the roles before it",
            examples = "execute")
        Role role) {
  private static final int MAX_NAME_CHARACTERS = 100;
  private static final List<String> ROLES = Arrays.stream(Role.values()).map(Role::code).toList();

  /**
   * @throws Problem malformed_json, validation_failed
   */
  static KeyRequest of(byte[] utf8) {
    Body body = Body.parse(utf8);
    body.require("name");
    body.require("role");
    String name = body.string("name").orElse(null);
    if (name != null
        && (name.isBlank() || name.codePointCount(0, name.length()) > MAX_NAME_CHARACTERS)) {
      body.reject(
          "name", "out_of_range", "A name must have 1 to " + MAX_NAME_CHARACTERS + " characters.");
    }
    Role role = body.choice("role", ROLES).map(Role::of).orElse(null);
    body.check();
    return new KeyRequest(name, role);
  }
}
