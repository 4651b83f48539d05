package dev.roost.swarmnode;

import dev.roost.builds.BuilderJob;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jboss.resteasy.reactive.RestQuery;

/**
 * Builds: what became of a request to build, with the same UUID. Roost's own Builds are shared by
 * agents, and exist only after a success.
 */
@Path("/compat/swarmnode/v1/builds")
@Blocking
public class CompatBuilds {
  private static final String LIST = "builds";

  private final CompatLogs logs;
  private final CompatUrls urls;

  CompatBuilds(CompatLogs logs, CompatUrls urls) {
    this.logs = logs;
    this.urls = urls;
  }

  /**
   * A build.
   *
   * @param status success, in_progress or failure
   */
  public record View(
      String id,
      String agentBuilderJobId,
      String status,
      List<Map<String, String>> logs,
      Instant created) {}

  @GET
  public NumberedPage<View> list(
      @RestQuery("agent_builder_job_id") String builderJobId,
      @RestQuery Integer page,
      @RestQuery("page_size") Integer pageSize) {
    NumberedPage.Position position = NumberedPage.Position.of(page, pageSize);
    CompatBuilderJobs.Found found =
        CompatBuilderJobs.Found.of("id", CompatIds.BUILDER_JOB.filter(builderJobId), position);
    Map<String, Object> filters = new HashMap<>();
    filters.put("agent_builder_job_id", builderJobId);
    List<View> views = found.jobs().stream().map(job -> view(job, CompatLogs.LIST_BYTES)).toList();
    return NumberedPage.of(urls, LIST, position, filters, found.total(), views);
  }

  @GET
  @Path("{id}")
  public View retrieve(String id) {
    return view(CompatBuilderJobs.Found.byId(CompatIds.BUILD, id), CompatLogs.BYTES);
  }

  private View view(BuilderJob job, int logBytes) {
    return new View(
        CompatIds.BUILD.uuid(job.id),
        CompatIds.BUILDER_JOB.uuid(job.id),
        status(job),
        logs.read(job.id, job.hasFailed() ? job.message : null, logBytes),
        job.createdAt);
  }

  private static String status(BuilderJob job) {
    return switch (job.state) {
      case QUEUED, RUNNING -> "in_progress";
      case SUCCEEDED -> "success";
      case FAILED, CANCELLED -> "failure";
    };
  }
}
