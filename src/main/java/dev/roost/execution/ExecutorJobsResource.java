package dev.roost.execution;

import dev.roost.agent.Agent;
import dev.roost.agent.AgentTags;
import dev.roost.api.Body;
import dev.roost.api.Cursor;
import dev.roost.api.ErrorCode;
import dev.roost.api.Needs;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.QueryParameters;
import dev.roost.api.Role;
import dev.roost.cluster.Waiting;
import dev.roost.state.ExecutorJobState;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Uni;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.util.Optional;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
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
  private final JobCancellation cancellation;

  ExecutorJobsResource(
      ExecutorJobs jobs, ExecutorJobAnswers answers, JobCancellation cancellation) {
    this.jobs = jobs;
    this.answers = answers;
    this.cancellation = cancellation;
  }

  /** The filters of the list and of its count. */
  static class Filters {
    @Parameter(description = "Only those of this agent")
    @RestQuery("agent_id")
    String agentId;

    @Parameter(
        description =
            "Only those of the agent with this name or, if there is none, of the agents that q of "
                + "GET /v1/agents finds, including deleted agents")
    @RestQuery
    String agent;

    @Parameter(description = AgentTags.DESCRIPTION)
    @RestQuery
    String tag;

    @Parameter(description = "Only runs of this schedule, including triggered runs")
    @RestQuery("schedule_id")
    String scheduleId;

    @Parameter(description = "Only those of this batch: the batch_id that execute-batch returned")
    @RestQuery("batch_id")
    String batchId;

    @Parameter(description = "Only those that the script of this job has called")
    @RestQuery("parent_id")
    String parentId;

    @Parameter(description = "One or several, separated by commas")
    @RestQuery
    String state;

    @Parameter(description = "Only those with this reason")
    @RestQuery
    String reason;

    @Parameter(
        description = "true: only those of drafts; false: only those of revisions",
        schema = @Schema(type = SchemaType.BOOLEAN))
    @RestQuery
    String draft;

    ExecutorJob.Filter read() {
      return new ExecutorJob.Filter(
          agentId,
          Agent.meant("agent", agent, tag),
          scheduleId,
          batchId,
          parentId,
          QueryParameters.choices("state", state, ExecutorJobState.class),
          ExecutionReason.parameter(reason),
          QueryParameters.flag("draft", draft));
    }
  }

  /**
   * A page of jobs, newest first.
   *
   * @param agentId null: of all agents
   * @param state one or several, separated by commas; null: all
   * @param cursor null: the first page
   * @param limit null: the default
   */
  public Page<ExecutorJob.View> page(String agentId, String state, String cursor, Integer limit) {
    Filters filters = new Filters();
    filters.agentId = agentId;
    filters.state = state;
    return list(filters, cursor, limit);
  }

  @GET
  @Operation(operationId = "listExecutorJobs", summary = "List ExecutorJobs, newest first")
  public Page<ExecutorJob.View> list(
      @BeanParam Filters filters, @RestQuery String cursor, @RestQuery Integer limit) {
    int most = Page.limit(limit);
    return answers.page(filters::read, Cursor.id("xjob", cursor), most);
  }

  @GET
  @Path("count")
  @Transactional
  @Operation(
      operationId = "countExecutorJobs",
      summary = "Count ExecutorJobs",
      description =
          "Counts the ExecutorJobs that the list has with the same filters, oldest first, up to 10000.")
  public Count count(@BeanParam Filters filters) {
    return ExecutorJob.count(filters.read());
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

  /** The script of a draft. */
  @Schema(name = "Draft")
  public record Draft(@Schema(description = "The script that the job runs") String script) {}

  @GET
  @Path("{id}/draft")
  @Transactional
  @Operation(
      operationId = "getExecutorJobDraft",
      summary = "Retrieve the script of a draft",
      description =
          "The unsaved script that the job runs or ran. 404 for a job that runs its revision's script.")
  public Draft draft(String id) {
    return ExecutorJob.draftScript(id).map(Draft::new).orElseThrow(() -> noDraft(id));
  }

  private static Problem noDraft(String id) {
    return ExecutorJob.findByIdOptional(id).isEmpty()
        ? Problem.notFound("ExecutorJob", id)
        : Problem.of(
            ErrorCode.NOT_FOUND, "The job %s runs the script of its revision.".formatted(id));
  }

  /** The schema of the body that cancels many jobs. */
  @Schema(name = "CancelJobsRequest")
  record CancelJobsRequest(
      @Schema(
              description =
                  "The batch_id that execute-batch returned: cancel the jobs of this batch.")
          String batchId,
      @Schema(description = "Cancel the jobs of this agent") String agentId,
      @Schema(defaultValue = "false", description = "true cancels the jobs of all agents")
          boolean all,
      @Schema(
              defaultValue = "true",
              description = "false cancels only queued jobs, not running and suspended ones")
          boolean running) {}

  @POST
  @Path("cancel")
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "cancelExecutorJobs",
      summary = "Cancel many ExecutorJobs",
      description =
          "Cancels all jobs of a batch, of an agent, or of all agents that have not ended: exactly one "
              + "of batch_id, agent_id and all is required. Has no effect on jobs that have ended or that "
              + "are submitted later.")
  @RequestBody(
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = CancelJobsRequest.class)))
  @APIResponse(
      responseCode = "200",
      description = "The number of cancelled jobs",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = JobCancellation.CancelledJobs.class)))
  @APIResponse(responseCode = "404", ref = "not_found")
  public JobCancellation.CancelledJobs cancelMany(byte[] bytes) {
    Body body = Body.parse(bytes);
    Optional<String> batchId = body.string("batch_id");
    Optional<String> agentId = body.string("agent_id");
    boolean all = body.bool("all").orElse(false);
    boolean running = body.bool("running").orElse(true);
    if (Stream.of(batchId.isPresent(), agentId.isPresent(), all).filter(given -> given).count()
        != 1) {
      body.reject("batch_id", "required", "One of batch_id, agent_id and all: true is required.");
    }
    body.check();
    if (all) {
      return cancellation.cancel(JobCancellation.Of.ALL, null, running);
    }
    return batchId.isPresent()
        ? cancellation.cancel(JobCancellation.Of.BATCH, batchId.get(), running)
        : cancellation.cancel(JobCancellation.Of.AGENT, agentId.orElseThrow(), running);
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
