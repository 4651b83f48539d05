package dev.roost.agent;

import dev.roost.api.Body;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Rolls an agent back to an earlier revision. */
@Path("/v1/agents/{id}/roll-back")
@Tag(name = "Agents")
@Blocking
public class RollBackResource {
  private final Agents agents;
  private final AgentAnswers answers;

  RollBackResource(Agents agents, AgentAnswers answers) {
    this.agents = agents;
    this.answers = answers;
  }

  /** The schema of the request body. */
  @Schema(name = "RollBackRequest")
  record RollBackFields(
      @Schema(
              required = true,
              minimum = "1",
              description = "The number of the revision to roll back to",
              examples = "3")
          int revision) {}

  @POST
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "rollBackAgent",
      summary = "Roll an agent back to an earlier revision",
      description =
          "Creates a revision with the script, bundle_id, script_path, requirements, env_vars, python_version, profile, "
              + "egress, preload, input_schema and output_schema of the earlier revision, unless nothing would change. All other settings keep "
              + "their values.")
  @RequestBody(
      content =
          @Content(
              schema = @Schema(implementation = RollBackFields.class),
              examples = @ExampleObject(name = "to revision 3", value = "{\"revision\": 3}")))
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = AgentView.class)))
  @APIResponse(responseCode = "412", ref = "precondition_failed")
  public Response rollBack(
      String id,
      @Parameter(description = "Apply the request only if the agent has this ETag")
          @HeaderParam("If-Match")
          String ifMatch,
      byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("revision");
    Optional<Integer> revision = body.integer("revision", 1, Integer.MAX_VALUE);
    body.check();
    agents.rollBack(id, revision.orElseThrow(), ifMatch);
    return answers.of(id);
  }
}
