package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.Caller;
import dev.roost.api.Cursor;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.QueryParameters;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.config.RoostConfig;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** Approvals: asked for by scripts, decided by people. */
@Path("/v1/approvals")
@Tag(name = "Approvals")
@Produces(MediaType.APPLICATION_JSON)
@Blocking
public class ApprovalsResource {
  private static final int MOST_COUNTED = 1_000;

  private final Approvals approvals;
  private final RoostConfig config;
  private final Caller caller;
  private final ApprovalLinks links;

  ApprovalsResource(Approvals approvals, ApprovalLinks links, RoostConfig config, Caller caller) {
    this.approvals = approvals;
    this.links = links;
    this.config = config;
    this.caller = caller;
  }

  @GET
  @Operation(operationId = "listApprovals", summary = "List approvals, newest first")
  public Page<Approval> list(
      @Parameter(description = "One or several, separated by commas") @RestQuery String state,
      @Parameter(description = "Only those of this agent") @RestQuery("agent_id") String agentId,
      @Parameter(description = "Only those of this job") @RestQuery("executor_job_id")
          String executorJobId,
      @Parameter(description = "Only those that ask this assignee") @RestQuery String assignee,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    int most = Page.limit(limit);
    Approvals.Filter filter =
        new Approvals.Filter(
            QueryParameters.choices("state", state, ApprovalState.class),
            agentId,
            executorJobId,
            assignee);
    return Page.of(
        approvals.page(filter, Cursor.id("approval", cursor), most),
        most,
        Approval::id,
        approval -> approval);
  }

  /** The number of approvals that wait. */
  @Schema(name = "ApprovalCounts")
  record Counts(@Schema(description = "Pending approvals, 1000 if there are more") int pending) {}

  @GET
  @Path("counts")
  @Operation(operationId = "countApprovals", summary = "Count pending approvals")
  public Counts counts(
      @Parameter(description = "Only those of this agent") @RestQuery("agent_id") String agentId) {
    return new Counts(approvals.pending(agentId, MOST_COUNTED));
  }

  @GET
  @Path("{id}")
  @Operation(operationId = "getApproval", summary = "Retrieve an approval")
  public Approval retrieve(String id) {
    return approvals.find(id);
  }

  /** The schema of the request body of an approval. */
  @Schema(name = "ApproveRequest")
  record ApproveFields(
      @Schema(
              ref = "JsonText",
              description =
                  "What is filled in: an object with the properties of the approval's form")
          JsonText value,
      @Schema(maxLength = Approvals.MOST_COMMENT_CHARACTERS, description = "For the script")
          String comment) {}

  @POST
  @Path("{id}/approve")
  @Takes(BodySize.PAYLOAD)
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "approve",
      summary = "Approve",
      description = "The script continues. The first decision counts.")
  @RequestBody(
      required = false,
      content =
          @Content(
              schema = @Schema(implementation = ApproveFields.class),
              examples =
                  @ExampleObject(name = "with a comment", value = "{\"comment\": \"Go ahead.\"}")))
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = Approval.class)))
  public Approval approve(String id, byte[] bytes) {
    Body body = Body.parse(bytes);
    String comment = comment(body);
    int sizeBytes = body.sizeBytes("value");
    JsonText value = body.json("value").orElse(null);
    body.check();
    ExecuteResource.checkSize("value", sizeBytes, config);
    return approvals.decide(id, new Approvals.Decision(true, caller.keyName(), comment, value));
  }

  /** The schema of the request body of a rejection. */
  @Schema(name = "RejectRequest")
  record RejectFields(
      @Schema(maxLength = Approvals.MOST_COMMENT_CHARACTERS, description = "For the script")
          String comment) {}

  @POST
  @Path("{id}/reject")
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "reject",
      summary = "Reject",
      description =
          "The script continues, and sees that it was rejected. The first decision counts.")
  @RequestBody(
      required = false,
      content =
          @Content(
              schema = @Schema(implementation = RejectFields.class),
              examples =
                  @ExampleObject(name = "with a comment", value = "{\"comment\": \"Too much.\"}")))
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = Approval.class)))
  public Approval reject(String id, byte[] bytes) {
    Body body = Body.parse(bytes);
    String comment = comment(body);
    body.check();
    return approvals.decide(id, new Approvals.Decision(false, caller.keyName(), comment, null));
  }

  /** The schema of the request body of a link. */
  @Schema(name = "ApprovalLinkRequest")
  record LinkFields(
      @Schema(
              maxLength = JobEvents.MOST_NAME_CHARACTERS,
              description = "In whose name it decides; without, the decision is by \"a link\"")
          String assignee,
      @Schema(
              minimum = "60",
              maximum = "31536000",
              defaultValue = "604800",
              description = "After how many seconds it ends")
          int expiresIn) {}

  @POST
  @Path("{id}/links")
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "createApprovalLink",
      summary = "Create a link that decides without a key",
      description =
          "For mails and chats. Following it shows the approval; a button there decides. Whoever has the link can "
              + "decide, once, until it ends.")
  @RequestBody(
      required = false,
      content =
          @Content(
              schema = @Schema(implementation = LinkFields.class),
              examples = @ExampleObject(name = "for Ada", value = "{\"assignee\": \"ada\"}")))
  @APIResponse(
      responseCode = "201",
      description = "The link was created",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ApprovalLinks.Link.class)))
  public Response link(String id, byte[] bytes) {
    Body body = Body.parse(bytes);
    String assignee = JobSteps.text(body, "assignee", JobEvents.MOST_NAME_CHARACTERS).orElse(null);
    int seconds = body.integer("expires_in", 60, 31_536_000).orElse(604_800);
    body.check();
    return Response.status(201)
        .entity(links.make(id, assignee, Duration.ofSeconds(seconds)))
        .build();
  }

  static String comment(Body body) {
    return JobSteps.text(body, "comment", Approvals.MOST_COMMENT_CHARACTERS).orElse(null);
  }
}
