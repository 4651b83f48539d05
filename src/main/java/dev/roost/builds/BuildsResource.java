package dev.roost.builds;

import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import io.smallrye.common.annotation.Blocking;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** Builds: created by Roost, read by clients. */
@Path("/v1/builds")
@Tag(name = "Builds")
@Blocking
public class BuildsResource {
  @GET
  @Transactional
  @Operation(operationId = "listBuilds", summary = "List Builds, newest first")
  public Page<Build.View> list(
      @Parameter(description = "Only those that a BuilderJob of this agent created or reused")
          @RestQuery("agent_id")
          String agentId,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    return Build.page(agentId, Cursor.id("build", cursor), Page.limit(limit));
  }

  @GET
  @Path("{id}")
  @Transactional
  @Operation(operationId = "getBuild", summary = "Retrieve a Build")
  public Build.View retrieve(String id) {
    return Build.<Build>findByIdOptional(id)
        .map(Build.View::of)
        .orElseThrow(() -> Problem.notFound("Build", id));
  }

  @GET
  @Path("{id}/sbom")
  @Transactional
  @Produces({BillOfMaterials.MEDIA_TYPE, MediaType.APPLICATION_JSON})
  @Operation(
      operationId = "getBuildSbom",
      summary = "Retrieve the software bill of materials of a Build",
      description =
          "In CycloneDX 1.6: a component for each installed distribution, with its package URL and the "
              + "SHA-256 of its file.")
  @APIResponse(
      responseCode = "200",
      description = "The bill of materials",
      content = {
        @Content(
            mediaType = BillOfMaterials.MEDIA_TYPE,
            schema = @Schema(type = SchemaType.OBJECT)),
        @Content(mediaType = MediaType.APPLICATION_JSON, schema = @Schema(type = SchemaType.OBJECT))
      })
  public String billOfMaterials(String id) {
    return Build.<Build>findByIdOptional(id)
        .map(BillOfMaterials::of)
        .orElseThrow(() -> Problem.notFound("Build", id));
  }

  @GET
  @Path("{id}/modules")
  @Transactional
  @Operation(
      operationId = "listBuildModules",
      summary = "List the top-level modules of a Build",
      description = "What scripts can import, besides Python's standard library.")
  public BuildModules.Names modules(String id) {
    requireBuild(id);
    return new BuildModules.Names(BuildModules.names(id).orElse(null));
  }

  @GET
  @Path("{id}/modules/{module}")
  @Transactional
  @Operation(
      operationId = "getBuildModule",
      summary = "Retrieve the public names of a module",
      description =
          "With signatures and documentation, as the editor shows them. Read from the sources of the "
              + "installed packages without running them, so names that a package creates when it is "
              + "imported are missing, as are modules beyond the limits of time and size.")
  public BuildModules.View module(
      String id,
      @Parameter(description = "The whole name, for example bs4.element") @PathParam("module")
          String module) {
    requireBuild(id);
    return new BuildModules.View(module, BuildModules.symbols(id, module).orElse(null));
  }

  private static void requireBuild(String id) {
    if (Build.count("id", id) == 0) {
      throw Problem.notFound("Build", id);
    }
  }
}
