package dev.roost.overview;

import dev.roost.api.Needs;
import dev.roost.api.Role;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The settings, for keys with write access. */
@Path("/v1/settings")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Overview")
public class SettingsResource {
  private static final String EXAMPLE =
      """
      {"data": [
        {"name": "roost.port", "environment": "ROOST_PORT", "value": "8090", "default": "8080",
         "description": "The TCP port to listen on.", "set": true},
        {"name": "roost.database.password", "environment": "ROOST_DATABASE_PASSWORD", "value": "(set)", "default": null,
         "description": "Its password.", "set": true}]}""";

  private final Config config;

  SettingsResource(Config config) {
    this.config = config;
  }

  /** In the order of the documentation. */
  @Schema(name = "Settings")
  record All(
      @Schema(description = "All settings, in the order of docs/settings.md") List<Setting> data) {}

  @GET
  @Needs(Role.WRITE)
  @Operation(
      operationId = "getSettings",
      summary = "List the settings of Roost",
      description = "Settings are read once, at the start. Passwords are never returned.")
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              schema = @Schema(implementation = All.class),
              examples = @ExampleObject(name = "two of them", value = EXAMPLE)))
  public All list() {
    return new All(new SettingsReader(config).read());
  }
}
