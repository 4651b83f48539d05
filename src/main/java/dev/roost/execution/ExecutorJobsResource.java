package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.Cursor;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.QueryParameters;
import dev.roost.api.Role;
import dev.roost.cluster.Waiting;
import dev.roost.state.ExecutorJobState;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** ExecutorJobs: list, retrieve, cancel. */
@Path("/v1/executor-jobs")
@Tag(name = "Executions")
@Blocking
public class ExecutorJobsResource {
  private final ExecutorJobs jobs;
  private final ExecutorJobAnswers answers;

  ExecutorJobsResource(ExecutorJobs jobs, ExecutorJobAnswers answers) {
    this.jobs = jobs;
    this.answers = answers;
  }

  @GET
  @Transactional
  @Operation(operationId = "listExecutorJobs", summary = "List ExecutorJobs, newest first")
  public Page<ExecutorJob.View> list(
      @Parameter(description = "Only those of this agent") @RestQuery("agent_id") String agentId,
      @Parameter(description = "Only runs of this schedule, including triggered runs")
          @RestQuery("schedule_id")
          String scheduleId,
      @Parameter(description = "Only those of this batch: the batch_id that execute-batch returned")
          @RestQuery("batch_id")
          String batchId,
      @Parameter(description = "One or several, separated by commas") @RestQuery String state,
      @Parameter(description = "Only those with this reason") @RestQuery String reason,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    int most = Page.limit(limit);
    ExecutorJob.Filter filter =
        new ExecutorJob.Filter(
            agentId,
            scheduleId,
            batchId,
            QueryParameters.choices("state", state, ExecutorJobState.class),
            ExecutionReason.parameter(reason));
    return Page.fitting(
        ExecutorJob.sizes(filter, Cursor.id("xjob", cursor), most),
        most,
        ids -> {
          List<ExecutorJob> rows = ExecutorJob.list("id in ?1 order by id desc", ids);
          return answers.now(rows);
        });
  }

  @GET
  @Path("{id}")
  @Operation(
      operationId = "getExecutorJob",
      summary = "Retrieve an ExecutorJob",
      description =
          "With wait, the response is delayed until it has ended, or until wait seconds have "
              + "passed.")
  @APIResponse(
      responseCode = "200",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ExecutorJob.View.class)))
  public Uni<ExecutorJob.View> retrieve(
      String id,
      @Parameter(description = "Seconds, 0 to 60") @RestQuery("wait") Integer waitSeconds) {
    return answers.whenEnded(id, Waiting.parameter(waitSeconds));
  }

  /** The schema of the body that cancels a batch. */
  @Schema(name = "CancelBatchRequest")
  record CancelBatchRequest(
      @Schema(required = true, description = "The batch_id that execute-batch returned.")
          String batchId,
      @Schema(defaultValue = "true", description = "false cancels only queued jobs")
          boolean running) {}

  @POST
  @Path("cancel")
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "cancelBatch",
      summary = "Cancel the ExecutorJobs of a batch",
      description =
          "Cancels all jobs of a batch that have not ended. Has no effect if all have ended.")
  @RequestBody(
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = CancelBatchRequest.class)))
  @APIResponse(
      responseCode = "200",
      description = "The number of cancelled jobs",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ExecutorJobs.CancelledBatch.class)))
  @APIResponse(responseCode = "404", ref = "not_found")
  public ExecutorJobs.CancelledBatch cancelBatch(byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("batch_id");
    Optional<String> batchId = body.string("batch_id");
    boolean running = body.bool("running").orElse(true);
    body.check();
    return jobs.cancelBatch(batchId.orElseThrow(), running);
  }

  @POST
  @Path("{id}/cancel")
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "cancelExecutorJob",
      summary = "Cancel an ExecutorJob",
      description =
          "A script that runs gets SIGTERM and 10 s later SIGKILL. Harmless when it has ended.")
  public ExecutorJob.View cancel(String id) {
    answers.now(id);
    jobs.cancel(id);
    return answers.now(id);
  }
}
