package dev.roost.bulk;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Needs;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.api.Text;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import dev.roost.execution.ExecutorJobs;
import dev.roost.execution.JobCopies;
import dev.roost.state.ExecutorJobState;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import jakarta.persistence.EntityManager;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Actions on many ExecutorJobs. */
@Path("/v1/executor-jobs/actions")
@Tag(name = "Executions")
@Blocking
public class JobActionsResource {
  private static final Sql READ =
      Sql.of(
          """
          select j.id, j.agent_id, j.state, a.name from executor_job j left join agent a on a.id = j.agent_id
          where j.id = any(:ids)""");

  private final EntityManager entities;
  private final ExecutorJobs jobs;
  private final JobCopies copies;

  JobActionsResource(EntityManager entities, ExecutorJobs jobs, JobCopies copies) {
    this.entities = entities;
    this.jobs = jobs;
    this.copies = copies;
  }

  /** What is done to the jobs. */
  @Schema(name = "ExecutorJobAction")
  public enum Action implements Code {
    CANCEL,
    RUN_AGAIN;

    @Override
    @JsonValue
    public String code() {
      return Code.of(this);
    }
  }

  /** The schema of the request. */
  @Schema(name = "ExecutorJobActionRequest")
  record Fields(
      @Schema(
              required = true,
              description =
                  "cancel cancels jobs that have not ended; run_again submits jobs that have ended again, "
                      + "with their payloads and the agents' running revisions")
          Action action,
      @Schema(
              required = true,
              type = SchemaType.ARRAY,
              maxItems = Selected.MOST,
              description = "The ExecutorJobs, at most 200")
          List<String> executorJobIds,
      @Schema(
              defaultValue = "false",
              description = "true changes nothing: the results say what the action would change")
          boolean dryRun) {}

  private record Job(String id, String agentId, String agentName, boolean open) {}

  @POST
  @Consumes(MediaType.APPLICATION_JSON)
  @Needs(Role.EXECUTE)
  @Operation(
      operationId = "actOnExecutorJobs",
      summary = "Act on many ExecutorJobs",
      description =
          "Does the same to each job. An error of one job does not keep the others from it: the result "
              + "of each job says what happened. cancel does not change jobs that have ended, and "
              + "run_again does not change jobs that have not.")
  @RequestBody(
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = Fields.class)))
  @APIResponse(
      responseCode = "200",
      description = "The result of each job",
      content =
          @Content(
              mediaType = MediaType.APPLICATION_JSON,
              schema = @Schema(implementation = ActionResult.All.class)))
  public ActionResult.All act(byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("action");
    Action action = body.choice("action", Action.class).orElse(null);
    List<String> ids = Selected.read(body, "executor_job_ids");
    boolean dryRun = body.bool("dry_run").orElse(false);
    body.check();
    Map<String, Job> found = read(ids);
    List<ActionResult> results = new ArrayList<>();
    for (String id : ids) {
      Job job = found.get(id);
      if (job == null) {
        results.add(ActionResult.failed(id, null, Problem.notFound("ExecutorJob", id)));
      } else if (job.open() != (action == Action.CANCEL)) {
        results.add(ActionResult.changed(id, job.agentName(), false));
      } else if (dryRun) {
        results.add(ActionResult.changed(id, job.agentName(), true));
      } else {
        results.add(act(action, job));
      }
    }
    return ActionResult.All.of(results);
  }

  private ActionResult act(Action action, Job job) {
    try {
      return switch (action) {
        case CANCEL -> {
          jobs.cancel(job.id());
          yield ActionResult.changed(job.id(), job.agentName(), true);
        }
        case RUN_AGAIN -> ActionResult.started(job.id(), job.agentName(), copy(job));
      };
    } catch (Problem problem) {
      if (problem.code() == ErrorCode.UNAVAILABLE) {
        throw problem; // All others would get the same.
      }
      return ActionResult.failed(job.id(), job.agentName(), problem);
    }
  }

  private String copy(Job job) {
    JobCopies.Copies copy =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    copies.submit(
                        job.agentId(), List.of(job.id()), null, Text.sha256(job.id()), null));
    copies.announce(job.agentId(), copy);
    return copy.batchId();
  }

  private Map<String, Job> read(List<String> ids) {
    Map<String, Job> found = new HashMap<>();
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                READ.with("ids", ids.toArray(String[]::new))
                    .list(
                        entities,
                        row ->
                            found.put(
                                row.getString("id"),
                                new Job(
                                    row.getString("id"),
                                    row.getString("agent_id"),
                                    row.getString("name"),
                                    !Code.parse(ExecutorJobState.class, row.getString("state"))
                                        .isFinal()))));
    return found;
  }
}
