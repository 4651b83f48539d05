package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.JsonText;
import dev.roost.api.Takes;
import dev.roost.api.WithoutKey;
import dev.roost.config.RoostConfig;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/**
 * Decides by a link, without a key. The secret is in the body, not in the address, so that it is in
 * no access log.
 */
@Path("/v1/approval-links")
@Tag(name = "Approvals")
@Produces(MediaType.APPLICATION_JSON)
@Blocking
public class ApprovalLinksResource {
  private static final int MOST_TOKEN_CHARACTERS = 200;

  /** In place of a name, of a link without one. */
  private static final String SOMEBODY = "a link";

  private final ApprovalLinks links;
  private final Approvals approvals;
  private final RoostConfig config;

  ApprovalLinksResource(ApprovalLinks links, Approvals approvals, RoostConfig config) {
    this.links = links;
    this.approvals = approvals;
    this.config = config;
  }

  /** What the holder of a link sees: nothing of the job but what was asked. */
  @Schema(name = "LinkedApproval")
  record View(
      @Schema(description = "What is to be decided, on one line") String title,
      @Schema(ref = "JsonText", description = "What one needs to know for it, or null")
          JsonText details,
      @Schema(ref = "JsonText", description = "The JSON Schema of what is to be filled in, or null")
          JsonText form,
      @Schema(nullable = true, description = "In whose name the link decides; null: nobody's")
          String assignee,
      @Schema(description = "Only what is `pending` can be decided") ApprovalState state,
      @Schema(nullable = true, description = "Until when it can be decided; null: without end")
          Instant expiresAt) {
    static View of(Approval approval, String assignee) {
      return new View(
          approval.title(),
          approval.details(),
          approval.form(),
          assignee,
          approval.state(),
          approval.expiresAt());
    }
  }

  /** The schema of the body. */
  @Schema(name = "LinkedApprovalRequest")
  record Fields(@Schema(description = "The token of the link", required = true) String token) {}

  @POST
  @Path("show")
  @WithoutKey
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(operationId = "showLinkedApproval", summary = "Show the approval of a link")
  @RequestBody(
      required = true,
      content =
          @Content(
              schema = @Schema(implementation = Fields.class),
              examples = @ExampleObject(name = "a link", value = "{\"token\": \"4e2a51\"}")))
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = View.class)))
  public View show(byte[] bytes) {
    Body body = Body.parse(bytes);
    String token = token(body);
    body.check();
    ApprovalLinks.Target target = links.find(token);
    return View.of(approvals.find(target.approvalId()), target.assignee());
  }

  /** The schema of the body of a decision. */
  @Schema(name = "LinkedDecisionRequest")
  record DecisionFields(
      @Schema(description = "The token of the link", required = true) String token,
      @Schema(type = SchemaType.BOOLEAN, description = "false rejects", required = true)
          boolean approved,
      @Schema(
              ref = "JsonText",
              description = "What is filled in: an object with the properties of the form")
          JsonText value,
      @Schema(maxLength = Approvals.MOST_COMMENT_CHARACTERS, description = "For the script")
          String comment) {}

  @POST
  @Path("decide")
  @WithoutKey
  @Takes(BodySize.PAYLOAD)
  @Consumes(MediaType.APPLICATION_JSON)
  @Operation(
      operationId = "decideLinkedApproval",
      summary = "Decide the approval of a link",
      description = "The script continues. The first decision counts.")
  @RequestBody(
      required = true,
      content =
          @Content(
              schema = @Schema(implementation = DecisionFields.class),
              examples =
                  @ExampleObject(
                      name = "approve",
                      value = "{\"token\": \"4e2a51\", \"approved\": true}")))
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = View.class)))
  public View decide(byte[] bytes) {
    Body body = Body.parse(bytes);
    String token = token(body);
    Boolean approved = body.bool("approved").orElse(null);
    body.require("approved");
    String comment = ApprovalsResource.comment(body);
    int sizeBytes = body.sizeBytes("value");
    JsonText value = body.json("value").orElse(null);
    body.check();
    ExecuteResource.checkSize("value", sizeBytes, config);
    ApprovalLinks.Target target = links.find(token);
    String by = target.assignee() == null ? SOMEBODY : target.assignee();
    Approval decided =
        approvals.decide(target.approvalId(), new Approvals.Decision(approved, by, comment, value));
    return View.of(decided, target.assignee());
  }

  private static String token(Body body) {
    body.require("token");
    return JobSteps.text(body, "token", MOST_TOKEN_CHARACTERS).orElse(null);
  }
}
