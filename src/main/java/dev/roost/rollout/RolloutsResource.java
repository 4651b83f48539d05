package dev.roost.rollout;

import dev.roost.api.Body;
import dev.roost.api.Cursor;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.QueryParameters;
import io.smallrye.common.annotation.Blocking;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Set;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jboss.resteasy.reactive.RestQuery;

/** Rollouts: started by Roost or by clients, who can watch, pause and undo them. */
@Path("/v1/rollouts")
@Tag(name = "Builds")
@Produces(MediaType.APPLICATION_JSON)
@Blocking
public class RolloutsResource {
  private final Rollouts rollouts;
  private final RolloutRepository repository;

  RolloutsResource(Rollouts rollouts, RolloutRepository repository) {
    this.rollouts = rollouts;
    this.repository = repository;
  }

  /** The schema of the body. */
  @Schema(name = "RolloutRequest")
  record RolloutFields(
      @Schema(
              description =
                  "Only these agents, if they are outdated; all outdated agents by default")
          List<String> agentIds) {}

  @POST
  @Consumes(MediaType.APPLICATION_JSON)
  @ResponseStatus(202)
  @Operation(
      operationId = "startRollout",
      summary = "Update outdated agents to the current base and SDK",
      description =
          "Rebuilds the dependencies of the agents whose outdated is set, a few at a time "
              + "(roost.rollouts.parallel). Each agent uses its new Build once the build has succeeded, "
              + "and keeps its Build if the build fails. If no agent is outdated, the rollout is "
              + "completed immediately.")
  @RequestBody(
      content =
          @Content(
              schema = @Schema(implementation = RolloutFields.class),
              examples = @ExampleObject(name = "all outdated agents", value = "{}")))
  @APIResponse(
      responseCode = "202",
      description = "The rollout",
      content = @Content(schema = @Schema(implementation = Rollout.class)))
  public Rollout start(byte[] bytes) {
    Body body = Body.parse(bytes);
    Set<String> agents = Set.copyOf(body.strings("agent_ids").orElse(List.of()));
    body.check();
    return rollouts.start(agents);
  }

  @GET
  @Transactional
  @Operation(operationId = "listRollouts", summary = "List rollouts, newest first")
  public Page<Rollout> list(
      @Parameter(description = "One or several, separated by commas") @RestQuery String state,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    List<RolloutState> states = QueryParameters.choices("state", state, RolloutState.class);
    int most = Page.limit(limit);
    return Page.of(
        repository.page(states, Cursor.id("rollout", cursor), most),
        most,
        Rollout::id,
        rollout -> rollout);
  }

  @GET
  @Path("{id}")
  @Transactional
  @Operation(operationId = "getRollout", summary = "Retrieve a rollout")
  public Rollout retrieve(String id) {
    return find(id);
  }

  @GET
  @Path("{id}/agents")
  @Transactional
  @Operation(
      operationId = "listRolloutAgents",
      summary = "List the agents of a rollout, with their states")
  public Page<Rollout.Item> agents(
      String id,
      @Parameter(
              description = "Only agents in this state",
              schema = @Schema(implementation = RolloutAgentState.class))
          @RestQuery
          String state,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    find(id);
    List<RolloutAgentState> states =
        QueryParameters.choices("state", state, RolloutAgentState.class);
    int most = Page.limit(limit);
    return Page.of(
        repository.items(id, states, Cursor.id("agent", cursor), most),
        most,
        Rollout.Item::agentId,
        item -> item);
  }

  @POST
  @Path("{id}/pause")
  @Operation(
      operationId = "pauseRollout",
      summary = "Pause a rollout",
      description = "Running builds continue, and are used once the rollout is resumed.")
  @APIResponse(
      responseCode = "200",
      content = @Content(schema = @Schema(implementation = Rollout.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public Rollout pause(String id) {
    return rollouts.pause(id);
  }

  @POST
  @Path("{id}/resume")
  @Operation(operationId = "resumeRollout", summary = "Resume a paused rollout")
  @APIResponse(
      responseCode = "200",
      content = @Content(schema = @Schema(implementation = Rollout.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public Rollout resume(String id) {
    return rollouts.resume(id);
  }

  @POST
  @Path("{id}/undo")
  @ResponseStatus(202)
  @Operation(
      operationId = "undoRollout",
      summary = "Undo a rollout",
      description =
          "Its agents use their previous Builds again, except agents that were updated after the "
              + "rollout. Roost does not start another rollout to the same Builds.")
  @APIResponse(
      responseCode = "202",
      description = "The rollout, whose agents are reverted one after another",
      content = @Content(schema = @Schema(implementation = Rollout.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public Rollout undo(String id) {
    return rollouts.undo(id);
  }

  private Rollout find(String id) {
    return repository.find(id).orElseThrow(() -> Problem.notFound("rollout", id));
  }
}
