package dev.roost.swarmnode;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Text;
import dev.roost.execution.JobPages;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;

/** Finished executions as messages to listeners. */
@ApplicationScoped
class ExecutionMessages {
  /** Clients refuse longer messages, and some count the frame's header. */
  static final int MOST_BYTES = (1 << 20) - 1_024;

  private final JobPages jobs;
  private final CompatExecutions.Views views;
  private final ObjectMapper mapper;

  ExecutionMessages(JobPages jobs, CompatExecutions.Views views, ObjectMapper mapper) {
    this.jobs = jobs;
    this.views = views;
    this.mapper = mapper;
  }

  /**
   * The message, with as much of the log's end as there is space beside the return value, which is
   * always whole.
   *
   * @return empty: the job has not ended, or is gone
   */
  Optional<String> finished(String jobId) {
    return jobs.find(jobId).filter(run -> run.job().finishedAt != null).map(this::message);
  }

  private String message(JobPages.Run run) {
    CompatExecutions.View view = views.withoutLogs(run);
    int left = MOST_BYTES - Text.sizeBytes(json(view));
    return json(view.withLogs(views.logs(run, left)));
  }

  private String json(Object value) {
    try {
      return mapper.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
