package dev.roost.build;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.roost.runtime.Observation;
import dev.roost.runtime.Step;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BuilderReconcilerTest {
  private static final Instant STARTED = Instant.parse("2026-11-21T18:00:00Z");
  private static final Duration TIMEOUT = Duration.ofMinutes(15);

  /** Its time-out and half a minute to say so itself. */
  private static final Instant LAST_MOMENT = STARTED.plus(TIMEOUT).plusSeconds(30);

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
    job.state = state;
    job.startedAt = state.equals("running") ? STARTED : null;
    Instant now = late ? LAST_MOMENT.plusMillis(1) : LAST_MOMENT;
    assertEquals(
        step(expected), BuilderReconciler.decide(job, seen(observation), free, TIMEOUT, now));
  }

  private static Observation seen(String name) {
    return switch (name) {
      case "none" -> null;
      case "absent" -> new Observation.Absent();
      case "pending" -> new Observation.Pending("waits for a node");
      case "running" -> new Observation.Running();
      case "ended" -> new Observation.Ended("exit status 137", null);
      case "ended, result" ->
          new Observation.Ended("exit status 0", "{\"outcome\": \"succeeded\"}");
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
