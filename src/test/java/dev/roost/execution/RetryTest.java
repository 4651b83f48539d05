package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.db.Code;
import dev.roost.state.ExecutionState;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class RetryTest {
  private static final Instant NOW = Instant.parse("2026-11-21T18:00:00Z");

  /** Always the longest delay, but for a rounding error. */
  private static final RandomGenerator LONGEST = () -> -1L;

  private static final RandomGenerator SHORTEST = () -> 0L;

  @ParameterizedTest(name = "{0} {1}, entered {2}, lost before {3}, attempt {4} of {5}: {6}")
  @CsvSource(
      delimiter = '|',
      value = {
        "succeeded | -                      | true  | 0 | 1 | 10 | ends",
        "cancelled | cancelled              | true  | 0 | 1 | 10 | ends",
        "cancelled | cancelled              | false | 0 | 1 | 10 | ends",
        "failed    | exception              | true  | 0 | 1 | 1  | ends",
        "failed    | exception              | true  | 0 | 1 | 2  | again",
        "failed    | exception              | false | 0 | 1 | 2  | again",
        "failed    | exception              | true  | 0 | 2 | 2  | ends",
        "failed    | exception              | true  | 0 | 3 | 2  | ends",
        "failed    | exited                 | true  | 0 | 9 | 10 | again",
        "failed    | not_json               | true  | 0 | 1 | 2  | again",
        "failed    | return_value_too_large | true  | 0 | 1 | 2  | again",
        "failed    | out_of_memory          | true  | 0 | 1 | 2  | again",
        "failed    | out_of_disk            | true  | 0 | 1 | 2  | again",
        "failed    | too_many_processes     | true  | 0 | 1 | 2  | again",
        "failed    | no_main                | false | 0 | 1 | 10 | ends",
        "failed    | bad_signature          | false | 0 | 1 | 10 | ends",
        "failed    | syntax_error           | false | 0 | 1 | 10 | ends",
        "failed    | import_error           | false | 0 | 1 | 10 | ends",
        "timed_out | deadline_exceeded      | true  | 0 | 1 | 2  | again",
        "timed_out | deadline_exceeded      | true  | 0 | 2 | 2  | ends",
        "lost      | executor_lost          | false | 0 | 1 | 1  | free",
        "lost      | executor_lost          | false | 1 | 1 | 1  | free",
        "lost      | executor_lost          | false | 2 | 1 | 1  | free",
        "lost      | executor_lost          | false | 3 | 1 | 1  | ends",
        "lost      | executor_lost          | false | 3 | 1 | 2  | again",
        "lost      | executor_lost          | true  | 0 | 1 | 1  | ends",
        "lost      | executor_lost          | true  | 0 | 1 | 2  | again",
        "lost      | executor_lost          | true  | 9 | 2 | 2  | ends"
      })
  void everyEndIsFollowedByWhatTheRulesSay(
      String state,
      String reason,
      boolean entered,
      long lostBefore,
      int attempts,
      int maxAttempts,
      String expected) {
    Outcome outcome = outcome(state, ExecutionReason.of(reason).orElse(null));
    Retry.Attempt attempt = new Retry.Attempt(outcome, attempts, entered, lostBefore, false, false);
    Optional<Retry.Again> again = Retry.decide(attempt, rules(maxAttempts, 8), SHORTEST);
    String found = again.map(next -> next.free() ? "free" : "again").orElse("ends");
    assertEquals(expected, found);
    again
        .filter(Retry.Again::free)
        .ifPresent(next -> assertEquals(Duration.ZERO, next.delay(), "a free one comes at once"));
  }

  @ParameterizedTest
  @EnumSource(ExecutionReason.class)
  void nothingIsTriedAgainOnceItIsCancelledOrItsAgentDeleted(ExecutionReason reason) {
    for (String state : new String[] {"failed", "timed_out", "lost", "cancelled"}) {
      for (boolean entered : new boolean[] {true, false}) {
        Outcome outcome = outcome(state, reason);
        assertEquals(
            Optional.empty(),
            Retry.decide(
                new Retry.Attempt(outcome, 1, entered, 0, true, false), rules(10, 1), SHORTEST));
        assertEquals(
            Optional.empty(),
            Retry.decide(
                new Retry.Attempt(outcome, 1, entered, 0, false, true), rules(10, 1), SHORTEST));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1, 0.5, 1",
    "1, 2, 1, 2",
    "1, 3, 2, 4",
    "1, 9, 128, 256",
    "0, 5, 0, 0",
    "0.25, 2, 0.25, 0.5",
    "86400, 1, 43200, 86400",
    "86400, 9, 43200, 86400"
  })
  void theDelayDoublesUpToADayAndIsAtLeastHalf(
      double retryDelaySeconds, int attempts, double least, double most) {
    Retry.Attempt attempt =
        new Retry.Attempt(
            outcome("failed", ExecutionReason.EXCEPTION), attempts, true, 0, false, false);
    double shortest = seconds(Retry.decide(attempt, rules(10, retryDelaySeconds), SHORTEST));
    double longest = seconds(Retry.decide(attempt, rules(10, retryDelaySeconds), LONGEST));
    assertEquals(least, shortest, 1e-6);
    assertEquals(most, longest, 1e-6);
  }

  @Test
  void delaysDifferSoThatNotAllComeBackAtOnce() {
    Random random = new Random(20261121);
    Retry.Attempt attempt =
        new Retry.Attempt(outcome("failed", ExecutionReason.EXITED), 1, true, 0, false, false);
    long different =
        random
            .ints(100)
            .mapToDouble(ignored -> seconds(Retry.decide(attempt, rules(2, 60), random)))
            .peek(delay -> assertTrue(delay >= 30 && delay <= 60, () -> "delay " + delay))
            .distinct()
            .count();
    assertTrue(different > 90, () -> different + " different delays of 100");
  }

  @Test
  void whatTheAgentNeverRetriesEndsAtOnceButALossBeforeMainIsFree() {
    Outcome late = outcome("timed_out", ExecutionReason.DEADLINE_EXCEEDED);
    Outcome lost = outcome("lost", ExecutionReason.EXECUTOR_LOST);
    Retry.Rules rules = rules(10, 1, "deadline_exceeded", "executor_lost");
    Retry.Attempt timedOut = new Retry.Attempt(late, 1, true, 0, false, false);
    assertEquals(Optional.empty(), Retry.decide(timedOut, rules, SHORTEST));
    assertTrue(Retry.decide(timedOut, rules(10, 1, "exited"), SHORTEST).isPresent());
    Retry.Attempt halfDone = new Retry.Attempt(lost, 1, true, 0, false, false);
    assertEquals(Optional.empty(), Retry.decide(halfDone, rules, SHORTEST));
    Retry.Attempt notBegun = new Retry.Attempt(lost, 1, false, 0, false, false);
    assertTrue(Retry.decide(notBegun, rules, SHORTEST).orElseThrow().free());
  }

  private static Retry.Rules rules(int maxAttempts, double delaySeconds, String... never) {
    return new Retry.Rules(maxAttempts, delaySeconds, Set.of(never));
  }

  private static double seconds(Optional<Retry.Again> again) {
    return again.orElseThrow().delay().toNanos() / 1e9;
  }

  private static Outcome outcome(String state, ExecutionReason reason) {
    return new Outcome(
        Code.parse(ExecutionState.class, state),
        reason,
        "message",
        null,
        null,
        false,
        null,
        null,
        NOW);
  }
}
