package dev.roost.gallery;

import dev.roost.api.Problem;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Templates of agents. */
@Path("/v1/templates")
@Tag(name = "Agents")
@Produces(MediaType.APPLICATION_JSON)
public class TemplatesResource {
  private final Templates templates;

  TemplatesResource(Templates templates) {
    this.templates = templates;
  }

  /** All templates. */
  @Schema(name = "AgentTemplates")
  public record View(List<AgentTemplate> data) {}

  @GET
  @Operation(
      operationId = "listTemplates",
      summary = "List templates of agents",
      description =
          "Complete agents that a new agent can begin with. They are part of the release.")
  public View list() {
    return new View(templates.all());
  }

  @GET
  @Path("{name}")
  @Operation(operationId = "getTemplate", summary = "Retrieve a template of an agent")
  public AgentTemplate retrieve(
      @Parameter(description = "The template's name, for example page-monitor") @PathParam("name")
          String name) {
    return templates.find(name).orElseThrow(() -> Problem.notFound("Template", name));
  }
}
