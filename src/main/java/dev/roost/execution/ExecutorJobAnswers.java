package dev.roost.execution;

import dev.roost.api.Problem;
import dev.roost.event.Waiting;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.Optional;

/** Answers with an ExecutorJob, now or when it has ended. */
@ApplicationScoped
class ExecutorJobAnswers {
  private static final int MAX_WAIT_SECONDS = 60;

  private final Waiting waiting;

  ExecutorJobAnswers(Waiting waiting) {
    this.waiting = waiting;
  }

  /** The job when it has ended, or as it is when the time is over. */
  Uni<ExecutorJob.View> whenEnded(String id, Duration wait) {
    if (wait.isZero()) {
      return Uni.createFrom().item(now(id));
    }
    return waiting.until(
        id,
        wait,
        () -> {
          ExecutorJob.View view = now(id);
          return view.finishedAt() == null ? Optional.empty() : Optional.of(view);
        },
        () -> now(id));
  }

  /**
   * @throws Problem not_found
   */
  ExecutorJob.View now(String id) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                ExecutorJob.<ExecutorJob>findByIdOptional(id)
                    .map(ExecutorJob.View::of)
                    .orElseThrow(() -> Problem.notFound("ExecutorJob", id)));
  }

  /**
   * @param seconds the query parameter, or null
   * @throws Problem validation_failed
   */
  static Duration wait(Integer seconds) {
    if (seconds == null) {
      return Duration.ZERO;
    }
    if (seconds < 0 || seconds > MAX_WAIT_SECONDS) {
      throw Problem.invalid(
          "?wait", "out_of_range", "wait must be from 0 to " + MAX_WAIT_SECONDS + " seconds.");
    }
    return Duration.ofSeconds(seconds);
  }
}
