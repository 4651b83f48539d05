package dev.roost.builds;

import dev.roost.state.BuilderJobState;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.stream.LongStream;

/** Counts ended builds, on the replica that ended them. */
@ApplicationScoped
class BuildMeters {
  private static final Duration[] BUCKETS =
      LongStream.of(1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1_800)
          .mapToObj(Duration::ofSeconds)
          .toArray(Duration[]::new);

  private static final String NO_REASON = "none";

  /** In place of succeeded, when an earlier Build fitted. */
  private static final String REUSED = "reused";

  private final MeterRegistry registry;

  BuildMeters(MeterRegistry registry) {
    this.registry = registry;
    counter(BuilderJobState.SUCCEEDED.code(), NO_REASON);
    counter(REUSED, NO_REASON);
    for (BuildReason reason : BuildReason.values()) {
      counter(BuilderJobState.FAILED.code(), reason.code());
    }
    timer(BuilderJobState.SUCCEEDED);
    timer(BuilderJobState.FAILED);
  }

  /** Creates the bean at startup, so that its series exist from the start, with zeros. */
  void start(@Observes StartupEvent event) {}

  private Counter counter(String state, String reason) {
    return Counter.builder("roost.builds")
        .description("BuilderJobs that have ended; reused: an existing Build was used")
        .tag("state", state)
        .tag("reason", reason)
        .register(registry);
  }

  private Timer timer(BuilderJobState state) {
    return Timer.builder("roost.build")
        .description("Duration of builds")
        .tag("state", state.code())
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  void ended(@Observes BuilderJobEnded event) {
    BuilderJob job =
        QuarkusTransaction.requiringNew().call(() -> BuilderJob.findById(event.builderJobId()));
    if (job == null || job.finishedAt == null) {
      return; // The BuilderJob was removed, or has not ended in the database.
    }
    counter(job.reused ? REUSED : job.state.code(), job.reason == null ? NO_REASON : job.reason)
        .increment();
    if (!job.reused && job.startedAt != null && job.state != BuilderJobState.CANCELLED) {
      timer(job.state).record(Duration.between(job.startedAt, job.finishedAt));
    }
  }
}
