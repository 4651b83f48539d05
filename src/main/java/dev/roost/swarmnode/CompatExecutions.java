package dev.roost.swarmnode;

import dev.roost.api.JsonText;
import dev.roost.execution.JobPages;
import io.smallrye.common.annotation.Blocking;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jboss.resteasy.reactive.RestQuery;

/**
 * Executions: each is a job of Roost with its latest attempt, so there is one for each request and
 * each run of a cron job, also before it begins and if it never does.
 */
@Path("/compat/swarmnode/v1/executions")
@Blocking
public class CompatExecutions {
  private static final String LIST = "executions";

  private final JobPages jobs;
  private final Views views;
  private final CompatUrls urls;

  CompatExecutions(JobPages jobs, Views views, CompatUrls urls) {
    this.jobs = jobs;
    this.views = views;
    this.urls = urls;
  }

  /**
   * An execution.
   *
   * @param agentExecutorJobId null: a run of a cron job
   * @param agentExecutorCronJobId null: not a run of a cron job
   * @param status success, in_progress, failure or termination
   * @param start when it began; before that, when it was requested
   * @param finish null while it is in progress
   */
  public record View(
      String id,
      String agentId,
      String agentExecutorJobId,
      String agentExecutorCronJobId,
      String status,
      Instant start,
      Instant finish,
      List<Map<String, String>> logs,
      JsonText returnValue) {
    View withLogs(List<Map<String, String>> other) {
      return new View(
          id,
          agentId,
          agentExecutorJobId,
          agentExecutorCronJobId,
          status,
          start,
          finish,
          other,
          returnValue);
    }
  }

  /** Makes views. */
  @ApplicationScoped
  static class Views {
    private final CompatLogs logs;

    Views(CompatLogs logs) {
      this.logs = logs;
    }

    View of(JobPages.Run run, int logBytes) {
      return withoutLogs(run).withLogs(logs(run, logBytes));
    }

    View withoutLogs(JobPages.Run run) {
      boolean isScheduled = run.job().scheduleId != null;
      return new View(
          CompatIds.EXECUTION.uuid(run.job().id),
          CompatIds.AGENT.uuid(run.job().agentId),
          isScheduled ? null : CompatIds.JOB.uuid(run.job().id),
          CompatIds.CRON_JOB.uuid(run.job().scheduleId),
          status(run),
          run.latest() == null ? run.job().createdAt : run.latest().startedAt(),
          run.job().finishedAt,
          List.of(),
          run.latest() == null ? null : run.latest().returnValue());
    }

    /** The log of the latest attempt, and why there is none if the job has failed before. */
    List<Map<String, String>> logs(JobPages.Run run, int bytes) {
      boolean hasEnded = run.job().finishedAt != null;
      return logs.read(run.job().latestExecutionId, hasEnded ? run.job().message : null, bytes);
    }

    private static String status(JobPages.Run run) {
      return switch (run.job().state) {
        case QUEUED, RUNNING, SUSPENDED -> "in_progress";
        case SUCCEEDED -> "success";
        case CANCELLED -> "termination";
        case FAILED ->
            run.latest() == null
                ? "failure"
                : switch (run.latest().state()) {
                  // It didn't end by itself.
                  case TIMED_OUT, LOST, CANCELLED -> "termination";
                  case RUNNING, SUSPENDED, SUCCEEDED, FAILED -> "failure";
                };
      };
    }
  }

  @GET
  public CursorPage<View> list(
      @RestQuery("agent_id") String agentId,
      @RestQuery("agent_executor_job_id") String jobId,
      @RestQuery("agent_executor_cron_job_id") String cronJobId,
      @RestQuery String cursor,
      @RestQuery("page_size") Integer pageSize) {
    Map<String, Object> filters = new HashMap<>();
    filters.put("agent_id", agentId);
    filters.put("agent_executor_job_id", jobId);
    filters.put("agent_executor_cron_job_id", cronJobId);
    JobPages.Selection selection =
        new JobPages.Selection(
            CompatIds.JOB.filter(jobId),
            CompatIds.AGENT.filter(agentId),
            CompatIds.CRON_JOB.filter(cronJobId),
            jobId == null ? null : false);
    return CursorPage.of(
        urls,
        LIST,
        jobs,
        selection,
        cursor,
        pageSize,
        filters,
        run -> views.of(run, CompatLogs.LIST_BYTES));
  }

  @GET
  @Path("{id}")
  public View retrieve(String id) {
    return jobs.find(CompatIds.EXECUTION.id(id))
        .map(run -> views.of(run, CompatLogs.BYTES))
        .orElseThrow(() -> CompatIds.EXECUTION.absent(id));
  }
}
