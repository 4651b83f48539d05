package dev.roost.bulk;

import dev.roost.agent.AgentTags;
import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.Caller;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.config.RoostConfig;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Actions on many agents. */
@Path("/v1/agents/actions")
@Tag(name = "Agents")
@Blocking
public class AgentActionsResource {
  private final AgentActions actions;
  private final Caller caller;
  private final RoostConfig config;

  AgentActionsResource(AgentActions actions, Caller caller, RoostConfig config) {
    this.actions = actions;
    this.caller = caller;
    this.config = config;
  }

  /** The schema of the request. */
  @Schema(name = "AgentActionRequest")
  record Fields(
      @Schema(
              required = true,
              description =
                  "run submits a job of each agent; tag and untag add and remove tags; pause_schedules "
                      + "and resume_schedules change the agents' schedules; delete deletes the agents, as "
                      + "DELETE /v1/agents/{id} does")
          AgentActions.Action action,
      @Schema(
              required = true,
              type = SchemaType.ARRAY,
              maxItems = Selected.MOST,
              description = "The agents, at most 200")
          List<String> agentIds,
      @Schema(type = SchemaType.ARRAY, description = "For tag and untag, where it is required")
          List<String> tags,
      @Schema(
              type = SchemaType.ARRAY,
              description =
                  "For pause_schedules and resume_schedules: only these schedules, for example to undo "
                      + "an earlier pause. Without it, all schedules of the agents")
          List<String> scheduleIds,
      @Schema(ref = "JsonText", description = "For run: the payload of each job") JsonText payload,
      @Schema(
              defaultValue = "false",
              description = "true changes nothing: the results say what the action would change")
          boolean dryRun) {}

  @POST
  @Takes(BodySize.PAYLOAD)
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "actOnAgents",
      summary = "Act on many agents",
      description =
          "Does the same to each agent. An error of one agent does not keep the others from it: the "
              + "result of each agent says what happened. run requires the role execute, all other "
              + "actions require the role write.")
  @RequestBody(
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = Fields.class)))
  @APIResponse(
      responseCode = "200",
      description = "The result of each agent",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ActionResult.All.class)))
  public ActionResult.All act(
      @Parameter(
              description =
                  "For run: makes retries safe for 24 hours: a repeated request returns the same jobs")
          @HeaderParam("Idempotency-Key")
          String idempotencyKey,
      byte[] bytes) {
    IdempotencyKey.check(idempotencyKey);
    Body body = Body.parse(bytes);
    body.require("action");
    AgentActions.Action action = body.choice("action", AgentActions.Action.class).orElse(null);
    List<String> ids = Selected.read(body, "agent_ids");
    List<String> tags = AgentTags.read(body, "tags").orElse(List.of());
    List<String> schedules = body.strings("schedule_ids").orElse(List.of());
    int payloadBytes = body.sizeBytes("payload");
    JsonText payload = body.json("payload").orElse(null);
    boolean dryRun = body.bool("dry_run").orElse(false);
    if (action != null) {
      checkMembers(body, action, tags, schedules, payload);
    }
    body.check();
    caller.require(action.role());
    if (payloadBytes > config.limits().payloadBytes()) {
      throw Problem.tooLarge(
          "payload", payloadBytes, config.limits().payloadBytes(), "roost.limits.payload-bytes");
    }
    AgentActions.Request request =
        new AgentActions.Request(action, ids, tags, schedules, payload, idempotencyKey);
    return dryRun ? actions.preview(request) : actions.run(request);
  }

  private static void checkMembers(
      Body body,
      AgentActions.Action action,
      List<String> tags,
      List<String> schedules,
      JsonText payload) {
    if (action.tags() && tags.isEmpty()) {
      body.reject("tags", "required", "tags must have at least one tag.");
    } else if (!action.tags() && !tags.isEmpty()) {
      body.reject("tags", "not_allowed", "tags is only for the actions tag and untag.");
    }
    if (!action.switches() && !schedules.isEmpty()) {
      body.reject(
          "schedule_ids",
          "not_allowed",
          "schedule_ids is only for the actions pause_schedules and resume_schedules.");
    }
    if (action != AgentActions.Action.RUN && payload != null) {
      body.reject("payload", "not_allowed", "payload is only for the action run.");
    }
  }
}
