package dev.roost.execution;

import dev.roost.api.Ids;
import dev.roost.api.JsonText;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Submits one job and answers its submitter. */
@ApplicationScoped
class JobSubmission {
  private final ExecutorJobs jobs;
  private final ExecutorJobAnswers answers;

  JobSubmission(ExecutorJobs jobs, ExecutorJobAnswers answers) {
    this.jobs = jobs;
    this.answers = answers;
  }

  /**
   * @param wait how long the response is delayed at most, until the job has ended
   */
  Uni<Response> answer(
      String agentId,
      JsonText payload,
      Options options,
      String idempotencyKey,
      String trace,
      Duration wait) {
    String jobId = Ids.next("xjob");
    CompletableFuture<Void> change = answers.nextChange(jobId);
    ExecutorJobs.Submitted submitted;
    try {
      submitted = jobs.submit(jobId, agentId, payload, options, idempotencyKey, trace);
    } catch (RuntimeException e) {
      change.cancel(false);
      throw e;
    }
    boolean look = submitted.repeated() || wait.isZero();
    if (look) {
      change.cancel(false);
    }
    return (look
            ? answers.whenEnded(submitted.executorJobId(), wait)
            : answers.whenEnded(change, jobId, wait))
        .map(submitted::answer);
  }
}
