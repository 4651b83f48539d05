package dev.roost.execution;

import dev.roost.api.JsonText;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import java.time.Duration;

/** Submits one job and answers its submitter. */
@ApplicationScoped
class JobSubmission {
  private final ExecutorJobs jobs;
  private final ExecutorJobAnswers answers;
  private final AwaitedJobs awaitedJobs;

  JobSubmission(ExecutorJobs jobs, ExecutorJobAnswers answers, AwaitedJobs awaitedJobs) {
    this.jobs = jobs;
    this.answers = answers;
    this.awaitedJobs = awaitedJobs;
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
    NewJob job = NewJob.next();
    AwaitedJobs.Awaited awaited = awaitedJobs.await(job);
    ExecutorJobs.Submitted submitted;
    try {
      submitted = jobs.submit(job, agentId, payload, options, idempotencyKey, trace);
    } catch (RuntimeException e) {
      awaited.change().cancel(false);
      throw e;
    }
    boolean look = submitted.repeated() || wait.isZero();
    if (look) {
      awaited.change().cancel(false);
    }
    return (look
            ? answers.whenEnded(submitted.executorJobId(), wait)
            : answers.whenEnded(awaited, job.id(), wait))
        .map(submitted::answer);
  }
}
