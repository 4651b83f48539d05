package dev.roost.agent;

import dev.roost.api.Caller;
import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.api.Role;
import io.smallrye.common.annotation.Blocking;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestPath;
import org.jboss.resteasy.reactive.RestQuery;

/** The revisions of agents. */
@Path("/v1/agents/{id}/revisions")
@Tag(name = "Agents")
@Blocking
public class RevisionsResource {
  private final Caller caller;

  RevisionsResource(Caller caller) {
    this.caller = caller;
  }

  @GET
  @Transactional
  @Operation(
      operationId = "listAgentRevisions",
      summary = "List an agent's revisions, newest first",
      description =
          "Each change of script, bundle_id, script_path, requirements, env_vars, python_version, profile, egress, "
              + "preload, input_schema or output_schema creates a revision.")
  public Page<AgentRevisionView> list(
      String id, @RestQuery String cursor, @RestQuery Integer limit) {
    Agent.require(id);
    int most = Page.limit(limit);
    Page<AgentRevisionView> page =
        Page.fitting(
            AgentRevision.sizes(id, Cursor.number("revision", cursor), most),
            most,
            numbers ->
                views(
                    AgentRevision.list(
                        "agentId = ?1 and revision in ?2 order by revision desc",
                        id,
                        numbers.stream().map(Integer::valueOf).toList())));
    String next = page.nextCursor();
    return new Page<>(page.data(), next == null ? null : Cursor.of("revision", next));
  }

  @GET
  @Path("{revision}")
  @Transactional
  @Operation(operationId = "getAgentRevision", summary = "Retrieve a revision of an agent")
  public AgentRevisionView retrieve(
      String id,
      @Parameter(description = "The number of the revision, from 1") @RestPath int revision) {
    Agent.require(id);
    return views(List.of(AgentRevision.require(id, revision))).get(0);
  }

  private List<AgentRevisionView> views(List<AgentRevision> revisions) {
    return AgentRevisionView.of(revisions, caller.may(Role.WRITE));
  }
}
