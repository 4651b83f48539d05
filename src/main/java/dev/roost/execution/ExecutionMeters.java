package dev.roost.execution;

import dev.roost.state.ExecutionState;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Counts executions and measures their steps, in this process. No metric is per agent: the number
 * of series must not grow with the number of agents.
 */
@ApplicationScoped
public class ExecutionMeters {
  /** From one millisecond (a warm executor) to one hour (a queue). */
  private static final Duration[] BUCKETS =
      java.util.stream.LongStream.of(
              1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
              300_000, 1_800_000, 3_600_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  /** Jobs whose end a client may wait for here; an answer comes within milliseconds, or never. */
  private static final int MOST_STORED = 1_000;

  private static final String NO_REASON = "none";

  /** The steps of an execution, each from the end of the previous one. */
  private enum Step {
    QUEUED,
    STARTING,
    RUNNING,
    STORING,
    ANSWERING
  }

  private final MeterRegistry registry;
  private final Clock clock;
  private final Map<Step, Map<Boolean, Timer>> steps = new EnumMap<>(Step.class);
  private volatile Instant lastClaim;

  /** When each job's end was stored, by {@code System.nanoTime}. */
  private final Map<String, Stored> stored =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Stored> eldest) {
              return size() > MOST_STORED;
            }
          });

  private record Stored(long nanos, boolean cold) {}

  ExecutionMeters(MeterRegistry registry, Clock clock) {
    this.registry = registry;
    this.clock = clock;
    this.lastClaim = clock.instant();
    for (Step step : Step.values()) {
      steps.put(step, Map.of(true, timer(step, true), false, timer(step, false)));
    }
    counter(ExecutionState.SUCCEEDED, null);
    counter(ExecutionState.SUSPENDED, null);
    counter(ExecutionState.CANCELLED, ExecutionReason.CANCELLED);
    counter(ExecutionState.TIMED_OUT, ExecutionReason.DEADLINE_EXCEEDED);
    counter(ExecutionState.LOST, ExecutionReason.EXECUTOR_LOST);
    for (ExecutionReason reason : ExecutionReason.values()) {
      counter(ExecutionState.FAILED, reason);
    }
    TimeGauge.builder(
            "roost.last.claim.timestamp", () -> lastClaim.toEpochMilli(), TimeUnit.MILLISECONDS)
        .description(
            "When this replica last dispatched a job to an executor; before the first job, when the "
                + "replica started")
        .register(registry);
  }

  /** Creates this bean at the start, so that its series exist from then on, with zeros. */
  void start(@Observes StartupEvent event) {}

  private Timer timer(Step step, boolean cold) {
    return Timer.builder("roost.execution.step")
        .description(
            "Durations of the phases of executions, each from the end of the previous phase")
        .tag("step", step.name().toLowerCase(Locale.ROOT))
        .tag("start", cold ? "cold" : "warm")
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  private Counter counter(ExecutionState state, ExecutionReason reason) {
    return Counter.builder("roost.executions")
        .description("Executions that have ended")
        .tag("state", state.code())
        .tag("reason", reason == null ? NO_REASON : reason.code())
        .register(registry);
  }

  /**
   * An executor has received a job.
   *
   * @param cold whether the execution is its executor's first
   */
  public void claimed(double queuedSeconds, boolean cold) {
    lastClaim = clock.instant();
    record(Step.QUEUED, cold, Duration.ofNanos((long) (queuedSeconds * 1e9)));
  }

  /** The time at which main was called is known. */
  public void entered(Instant claimed, Instant entered, boolean cold) {
    record(Step.STARTING, cold, Duration.between(claimed, entered));
  }

  /**
   * The end of an execution was stored; call this after the transaction.
   *
   * @param entered when main was called; null: never, or unknown
   */
  public void ended(String jobId, Outcome outcome, Instant entered, boolean cold) {
    counter(outcome.state(), outcome.reason()).increment();
    if (entered != null) {
      record(Step.RUNNING, cold, Duration.between(entered, outcome.time()));
    }
    record(Step.STORING, cold, Duration.between(outcome.time(), clock.instant()));
    stored.put(jobId, new Stored(System.nanoTime(), cold));
  }

  /**
   * A client that waited for a job's end gets its answer.
   *
   * @param since the start of the wait, by {@code System.nanoTime}
   */
  void answered(String jobId, long since) {
    Stored end = stored.remove(jobId);
    if (end != null && end.nanos() - since > 0) {
      record(Step.ANSWERING, end.cold(), Duration.ofNanos(System.nanoTime() - end.nanos()));
    }
  }

  /** Clocks of two machines may differ, so a step may seem to end before it began. */
  private void record(Step step, boolean cold, Duration duration) {
    steps.get(step).get(cold).record(duration.isNegative() ? Duration.ZERO : duration);
  }
}
