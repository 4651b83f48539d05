package dev.roost.builds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.db.Code;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Step;
import dev.roost.state.BuilderJobState;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BuilderReconcilerTest {
  private static final Instant STARTED = Instant.parse("2026-11-21T18:00:00Z");
  private static final Duration TIMEOUT = Duration.ofMinutes(15);

  /** Its time-out and half a minute to say so itself. */
  private static final Instant LAST_MOMENT = STARTED.plus(TIMEOUT).plusSeconds(30);

  private static final BuilderReconciler.Limits LIMITS =
      new BuilderReconciler.Limits(TIMEOUT, Duration.ofMinutes(5));

  /** Every combination of state, observation, room for another build, and being late. */
  @ParameterizedTest(name = "{0}, seen {1}, free {2}, late {3}: {4}")
  @CsvSource(
      delimiter = '|',
      value = {
        "queued  | none          | true  | false | create",
        "queued  | none          | true  | true  | create",
        "queued  | none          | false | false | wait",
        "queued  | none          | false | true  | wait",
        "running | absent        | true  | false | create",
        "running | absent        | false | false | create",
        "running | absent        | true  | true  | deadline_exceeded",
        "running | absent        | false | true  | deadline_exceeded",
        "running | pending       | true  | false | wait",
        "running | pending       | false | false | wait",
        "running | pending       | true  | true  | deadline_exceeded",
        "running | pending       | false | true  | deadline_exceeded",
        "running | running       | true  | false | wait",
        "running | running       | false | false | wait",
        "running | running       | true  | true  | deadline_exceeded",
        "running | running       | false | true  | deadline_exceeded",
        "running | ended         | true  | false | lost",
        "running | ended         | false | false | lost",
        "running | ended         | true  | true  | lost",
        "running | ended         | false | true  | lost",
        "running | ended, result | true  | false | result",
        "running | ended, result | false | false | result",
        "running | ended, result | true  | true  | result",
        "running | ended, result | false | true  | result"
      })
  void everyCaseHasItsStep(
      String state, String observation, boolean free, boolean late, String expected) {
    BuilderJob job = new BuilderJob();
    job.state = Code.parse(BuilderJobState.class, state);
    job.startedAt = state.equals("running") ? STARTED : null;
    Instant now = late ? LAST_MOMENT.plusMillis(1) : LAST_MOMENT;
    assertEquals(
        step(expected), BuilderReconciler.decide(job, seen(observation), free, LIMITS, now));
  }

  /** A build that something keeps from starting says what, when it has waited long enough. */
  @ParameterizedTest(name = "{0} s after the start: {1}")
  @CsvSource({"0, wait", "300, wait", "301, finish", "2000, finish"})
  void aBuildThatCantStartEndsWithWhatKeepsIt(long seconds, String expected) {
    BuilderJob job = new BuilderJob();
    job.state = BuilderJobState.RUNNING;
    job.startedAt = STARTED;
    Observation seen = new Observation.Pending("runtime_unavailable", "exceeded quota");
    Step step = BuilderReconciler.decide(job, seen, true, LIMITS, STARTED.plusSeconds(seconds));
    assertEquals(
        expected.equals("wait")
            ? new Step.Wait()
            : new Step.Finish("runtime_unavailable", "exceeded quota", null),
        step);
  }

  @Test
  void aBuildThatWasKilledKeepsItsReason() {
    BuilderJob job = new BuilderJob();
    job.state = BuilderJobState.RUNNING;
    job.startedAt = STARTED;
    Observation seen = new Observation.Ended("out_of_memory", "the limit is 2048 MiB", null);
    assertEquals(
        new Step.Finish("out_of_memory", "the limit is 2048 MiB", null),
        BuilderReconciler.decide(job, seen, true, LIMITS, STARTED));
  }

  private static Observation seen(String name) {
    return switch (name) {
      case "none" -> null;
      case "absent" -> new Observation.Absent();
      case "pending" -> new Observation.Pending(null, "waits for a node");
      case "running" -> new Observation.Running(null);
      case "ended" -> new Observation.Ended(null, "exit status 137", null);
      case "ended, result" ->
          new Observation.Ended(null, "exit status 0", "{\"outcome\": \"succeeded\"}");
      default -> throw new IllegalArgumentException(name);
    };
  }

  private static Step step(String name) {
    return switch (name) {
      case "create" -> new Step.Create();
      case "wait" -> new Step.Wait();
      case "lost" -> new Step.Finish("lost", "exit status 137", null);
      case "result" -> new Step.Finish(null, "exit status 0", "{\"outcome\": \"succeeded\"}");
      case "deadline_exceeded" ->
          new Step.Finish("deadline_exceeded", "The build did not end within 900 s.", null);
      default -> throw new IllegalArgumentException(name);
    };
  }
}
