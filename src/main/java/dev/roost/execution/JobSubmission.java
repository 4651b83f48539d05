package dev.roost.execution;

import dev.roost.api.JsonText;
import dev.roost.execution.ExecutorJobs.Submitted;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Submits one job and answers its submitter. */
@ApplicationScoped
public class JobSubmission {
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
    return whenEnded(
        job -> jobs.submit(job, agentId, payload, options, idempotencyKey, trace),
        wait,
        Submitted::answer);
  }

  /**
   * Submits a job without options; the result is the job when it has ended, or in its current state
   * after that time.
   *
   * @param idempotencyKey or null
   * @param content what all requests with that key have to have in common
   * @param trace that it belongs to, see {@link dev.roost.trace.Traces#parent}; or null
   * @throws dev.roost.api.Problem as {@link ExecutorJobs#submit}
   */
  public Uni<ExecutorJob.View> whenEnded(
      String agentId,
      JsonText payload,
      String idempotencyKey,
      String content,
      String trace,
      Duration wait) {
    return whenEnded(
        job -> jobs.submit(job, agentId, payload, Options.NONE, idempotencyKey, content, trace),
        wait,
        (submitted, view) -> view);
  }

  private <T> Uni<T> whenEnded(
      Function<NewJob, Submitted> submission,
      Duration wait,
      BiFunction<Submitted, ExecutorJob.View, T> answer) {
    NewJob job = NewJob.next();
    AwaitedJobs.Awaited awaited = awaitedJobs.await(job);
    Submitted submitted;
    try {
      submitted = submission.apply(job);
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
        .map(view -> answer.apply(submitted, view));
  }
}
