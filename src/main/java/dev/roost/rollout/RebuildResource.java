package dev.roost.rollout;

import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.ResponseStatus;

/** Builds one agent again. */
@Path("/v1/agents/{id}/rebuild")
@Tag(name = "Agents")
@Produces(MediaType.APPLICATION_JSON)
@Blocking
public class RebuildResource {
  private final Rollouts rollouts;

  RebuildResource(Rollouts rollouts) {
    this.rollouts = rollouts;
  }

  @POST
  @ResponseStatus(202)
  @Operation(
      operationId = "rebuildAgent",
      summary = "Rebuild an agent's dependencies",
      description =
          "Builds on the current base, with the current versions of dependencies that the "
              + "requirements do not pin. The agent uses the new Build once the build has succeeded, and "
              + "keeps its Build if the build fails. This creates a rollout of one agent, which can be "
              + "monitored and undone like any other.")
  @APIResponse(
      responseCode = "202",
      description = "The rollout",
      content = @Content(schema = @Schema(implementation = Rollout.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public Rollout rebuild(String id) {
    return rollouts.rebuild(id);
  }
}
