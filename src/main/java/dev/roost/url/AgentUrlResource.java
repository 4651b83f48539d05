package dev.roost.url;

import dev.roost.api.Needs;
import dev.roost.api.Role;
import dev.roost.config.RoostConfig;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.ResponseBuilder;

/** Whether and how an agent can be called at a URL of its own; {@link RunRoute} serves it. */
@Path("/v1/agents/{id}/url")
@Tag(name = "Agents")
@Blocking
public class AgentUrlResource {
  private final AgentUrls urls;
  private final RoostConfig config;

  AgentUrlResource(AgentUrls urls, RoostConfig config) {
    this.urls = urls;
    this.config = config;
  }

  @GET
  @Operation(
      operationId = "getAgentUrl",
      summary = "Retrieve the URL of an agent",
      description = "404 if the agent has none. Never contains the secret.")
  public AgentUrl.View get(String id) {
    return AgentUrl.View.of(urls.get(id), config);
  }

  @PUT
  @Needs(Role.WRITE)
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "putAgentUrl",
      summary = "Give an agent a URL, or change it",
      description =
          "Replaces all fields; those that are left out get their defaults, except secret, which stays as long as "
              + "the signature_scheme does. The response contains the secret if it is new.")
  @RequestBody(
      required = false,
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = AgentUrlRequest.class),
              examples = {
                @ExampleObject(name = "with a key", value = "{}"),
                @ExampleObject(
                    name = "webhooks of GitHub",
                    value =
                        "{\"authentication\": \"signature\", \"signature_scheme\": \"github\", "
                            + "\"secret\": \"mJx2bq7Kc0aTq1vY\", \"mode\": \"accept\"}")
              }))
  @APIResponse(
      responseCode = "201",
      description = "The agent has a URL now",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = AgentUrl.View.class)))
  @APIResponse(
      responseCode = "200",
      description = "The URL was changed",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = AgentUrl.View.class)))
  public RestResponse<AgentUrl.View> put(String id, byte[] body) {
    AgentUrls.Put put = urls.put(id, AgentUrlRequest.of(body));
    AgentUrl.View view =
        put.isNewSecret()
            ? AgentUrl.View.withSecret(put.url(), config)
            : AgentUrl.View.of(put.url(), config);
    return ResponseBuilder.ok(view)
        .status(put.created() ? RestResponse.Status.CREATED : RestResponse.Status.OK)
        .header("Cache-Control", "no-store")
        .build();
  }

  @DELETE
  @Needs(Role.WRITE)
  @Operation(
      operationId = "deleteAgentUrl",
      summary = "Remove the URL of an agent",
      description = "Requests to it are refused from then on. Jobs that it has created continue.")
  @APIResponse(responseCode = "204", description = "Removed")
  public void delete(String id) {
    urls.delete(id);
  }
}
