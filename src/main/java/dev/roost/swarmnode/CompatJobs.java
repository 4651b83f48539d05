package dev.roost.swarmnode;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.JsonText;
import dev.roost.api.Needs;
import dev.roost.api.Role;
import dev.roost.api.Takes;
import dev.roost.config.RoostConfig;
import dev.roost.execution.ExecuteResource;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.ExecutorJobs;
import dev.roost.execution.JobPages;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jboss.resteasy.reactive.RestQuery;

/** Requests to run an agent, without those of schedules. */
@Path("/compat/swarmnode/v1/agent-executor-jobs")
@Blocking
public class CompatJobs {
  private static final String LIST = "agent-executor-jobs";

  private final ExecutorJobs jobs;
  private final JobPages pages;
  private final RoostConfig config;
  private final CompatUrls urls;

  CompatJobs(ExecutorJobs jobs, JobPages pages, RoostConfig config, CompatUrls urls) {
    this.jobs = jobs;
    this.pages = pages;
    this.config = config;
    this.urls = urls;
  }

  /**
   * A request to run an agent.
   *
   * @param executionAddress where {@link ExecutionSockets} sends its execution
   */
  public record View(String id, String agentId, String executionAddress, Instant created) {
    private static View of(String id, String agentId, Instant created) {
      return new View(
          CompatIds.JOB.uuid(id),
          CompatIds.AGENT.uuid(agentId),
          CompatIds.JOB.address(id),
          created);
    }

    private static View of(ExecutorJob job) {
      return of(job.id, job.agentId, job.createdAt);
    }
  }

  @GET
  public CursorPage<View> list(
      @RestQuery("agent_id") String agentId,
      @RestQuery String cursor,
      @RestQuery("page_size") Integer pageSize) {
    Map<String, Object> filters = new HashMap<>();
    filters.put("agent_id", agentId);
    return CursorPage.of(
        urls,
        LIST,
        pages,
        new JobPages.Selection(null, CompatIds.AGENT.filter(agentId), null, false),
        cursor,
        pageSize,
        filters,
        run -> View.of(run.job()));
  }

  @GET
  @Path("{id}")
  public View retrieve(String id) {
    return pages
        .find(CompatIds.JOB.id(id))
        .map(JobPages.Run::job)
        .filter(job -> job.scheduleId == null)
        .map(View::of)
        .orElseThrow(() -> CompatIds.JOB.absent(id));
  }

  @POST
  @Path("create")
  @Needs(Role.EXECUTE)
  @Takes(BodySize.PAYLOAD)
  @Consumes(MediaType.APPLICATION_JSON)
  @ResponseStatus(201)
  public View create(byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("agent_id");
    String agent = body.string("agent_id").orElse("");
    JsonText payload = body.json("payload").orElse(null);
    body.check();
    ExecuteResource.checkSize("payload", body.sizeBytes("payload"), config);
    String agentId = CompatIds.AGENT.id(agent);
    ExecutorJobs.Submitted submitted = jobs.submit(agentId, payload, null);
    return View.of(submitted.executorJobId(), agentId, submitted.createdAt());
  }
}
