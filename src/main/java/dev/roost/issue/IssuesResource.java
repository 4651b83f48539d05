package dev.roost.issue;

import dev.roost.api.Body;
import dev.roost.api.Cursor;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.QueryParameters;
import dev.roost.api.Role;
import dev.roost.execution.ExecutionReason;
import dev.roost.trace.Traces;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** Issues: opened by Roost; clients resolve and mute them, and run their jobs again. */
@Path("/v1/issues")
@Tag(name = "Issues")
@Produces(MediaType.APPLICATION_JSON)
@Blocking
public class IssuesResource {
  private final Issues issues;
  private final Replays replays;
  private final Traces traces;

  IssuesResource(Issues issues, Replays replays, Traces traces) {
    this.issues = issues;
    this.replays = replays;
    this.traces = traces;
  }

  @GET
  @Operation(
      operationId = "listIssues",
      summary = "List issues, newest first",
      description =
          "Failed, timed-out and lost Executions are grouped by agent, reason, exception, function and "
              + "message; numbers, identifiers, paths and quoted texts of the message don't count. A "
              + "failure appears in its issue about a second after it.")
  public Page<Issue> list(
      @Parameter(description = "One or several, separated by commas") @RestQuery String state,
      @Parameter(description = "Only those of this agent") @RestQuery("agent_id") String agentId,
      @Parameter(description = "Only those with this reason") @RestQuery String reason,
      @Parameter(description = "Only the issue of this Execution") @RestQuery("execution_id")
          String executionId,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    int most = Page.limit(limit);
    Issues.Filter filter =
        new Issues.Filter(
            QueryParameters.choices("state", state, IssueState.class),
            agentId,
            ExecutionReason.parameter(reason),
            executionId);
    return Page.of(
        issues.page(filter, Cursor.id("issue", cursor), most), most, Issue::id, issue -> issue);
  }

  /** The number of issues in each state. */
  @Schema(name = "IssueCounts")
  record Counts(
      @Schema(description = "Open issues") int open,
      @Schema(description = "Resolved issues") int resolved,
      @Schema(description = "Muted issues") int muted) {}

  @GET
  @Path("counts")
  @Operation(operationId = "countIssues", summary = "Count issues by state")
  public Counts counts(
      @Parameter(description = "Only those of this agent") @RestQuery("agent_id") String agentId) {
    Map<IssueState, Integer> counts = issues.counts(agentId);
    return new Counts(
        counts.getOrDefault(IssueState.OPEN, 0),
        counts.getOrDefault(IssueState.RESOLVED, 0),
        counts.getOrDefault(IssueState.MUTED, 0));
  }

  @GET
  @Path("{id}")
  @Operation(
      operationId = "getIssue",
      summary = "Retrieve an issue",
      description = "GET /v1/executions?issue_id= lists its Executions.")
  public Issue retrieve(String id) {
    return issues.find(id);
  }

  @POST
  @Path("{id}/resolve")
  @Operation(
      operationId = "resolveIssue",
      summary = "Resolve an issue",
      description =
          "An Execution of the agent's running revision, or of a later one, that begins after this and "
              + "fails in the same way opens the issue again.")
  @APIResponse(
      responseCode = "200",
      content = @Content(schema = @Schema(implementation = Issue.class)))
  public Issue resolve(String id) {
    return issues.change(id, IssueState.RESOLVED);
  }

  @POST
  @Path("{id}/mute")
  @Operation(
      operationId = "muteIssue",
      summary = "Mute an issue",
      description = "It counts failures, and raises no events until it is reopened.")
  @APIResponse(
      responseCode = "200",
      content = @Content(schema = @Schema(implementation = Issue.class)))
  public Issue mute(String id) {
    return issues.change(id, IssueState.MUTED);
  }

  @POST
  @Path("{id}/reopen")
  @Operation(operationId = "reopenIssue", summary = "Reopen a resolved or muted issue")
  @APIResponse(
      responseCode = "200",
      content = @Content(schema = @Schema(implementation = Issue.class)))
  public Issue reopen(String id) {
    return issues.change(id, IssueState.OPEN);
  }

  /** The schema of the body. */
  @Schema(name = "IssueReplayRequest")
  record ReplayFields(
      @Schema(description = "Only these jobs of the issue; all of its jobs by default")
          List<String> executorJobIds,
      @Schema(description = "Only failures that ended at this time or later") Instant since,
      @Schema(description = "Only failures that ended before this time") Instant until,
      @Schema(
              defaultValue = "false",
              description = "Also run jobs again that have succeeded since, by a retry or a replay")
          boolean includeSucceeded,
      @Schema(
              defaultValue = "1000",
              minimum = "1",
              maximum = "1000",
              description = "The maximum number of jobs")
          int limit,
      @Schema(defaultValue = "false", description = "Only return what a replay would submit")
          boolean preview) {}

  @POST
  @Path("{id}/replay")
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "replayIssue",
      summary = "Run the jobs of an issue again",
      description =
          "Submits the affected jobs again, oldest first and all or none, with their stored payloads, "
              + "priorities and concurrency keys, and the agent's running revision. Jobs that have "
              + "succeeded since, or that are queued or running again, are left out. Repeat the request "
              + "while more is true.")
  @RequestBody(
      required = false,
      content =
          @Content(
              schema = @Schema(implementation = ReplayFields.class),
              examples = @ExampleObject(name = "all affected jobs", value = "{}")))
  @APIResponse(
      responseCode = "201",
      description = "The jobs were submitted",
      content = @Content(schema = @Schema(implementation = Replays.View.class)))
  @APIResponse(
      responseCode = "200",
      description =
          "A preview, no job to run, or the jobs that an earlier request with this Idempotency-Key submitted",
      content = @Content(schema = @Schema(implementation = Replays.View.class)))
  public Response replay(
      String id,
      @Parameter(
              description =
                  "Makes retries safe for 24 hours: a repeated request returns the same jobs")
          @HeaderParam("Idempotency-Key")
          String idempotencyKey,
      @Parameter(hidden = true) @HeaderParam("traceparent") String traceParent,
      byte[] bytes) {
    IdempotencyKey.check(idempotencyKey);
    Body body = Body.parse(bytes);
    Optional<List<String>> jobs = body.strings("executor_job_ids");
    if (jobs.isPresent() && (jobs.get().isEmpty() || jobs.get().size() > Replays.MOST)) {
      body.reject(
          "executor_job_ids",
          "out_of_range",
          "executor_job_ids must have 1 to %d identifiers.".formatted(Replays.MOST));
    }
    Replays.Selection selection =
        new Replays.Selection(
            jobs.orElse(List.of()),
            body.time("since").orElse(null),
            body.time("until").orElse(null),
            body.bool("include_succeeded").orElse(false),
            body.integer("limit", 1, Replays.MOST).orElse(Replays.MOST));
    boolean preview = body.bool("preview").orElse(false);
    body.check();
    Issue issue = issues.find(id);
    if (preview) {
      return Response.ok(replays.preview(issue, selection)).build();
    }
    Replays.Answer answer =
        replays.submit(issue, selection, idempotencyKey, traces.parent(traceParent));
    boolean created = answer.view().hasSubmitted() && !answer.repeated();
    return Response.status(created ? 201 : 200).entity(answer.view()).build();
  }
}
