package dev.roost.builds;

import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import io.smallrye.common.annotation.Blocking;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
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
}
