package dev.roost.webhook;

import java.time.Duration;

/**
 * The consequence of an attempt.
 *
 * @param state of the delivery: pending, succeeded or failed
 * @param pause before the next attempt; null: there is none
 * @param disabled why the webhook is disabled; null: it isn't
 */
record Verdict(String state, Duration pause, String disabled) {
  static final String PENDING = "pending";
  static final String SUCCEEDED = "succeeded";
  static final String FAILED = "failed";

  /** The time limit for a delivery, from its first attempt. */
  static final Duration PATIENCE = Duration.ofDays(1);

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  private static final Duration LONGEST_PAUSE = Duration.ofHours(1);

  /** The maximum random extension of a pause, as a fraction, so that retries spread out. */
  private static final double JITTER = 0.2;

  /**
   * Pauses roughly double: each pause is as long as the time since the first attempt, plus a bit.
   * One more attempt follows at the end of the day.
   *
   * @param untried the rest of {@link #PATIENCE}
   * @param isTest a test has one attempt, since its user waits for the result
   * @param random from 0 to 1
   */
  static Verdict of(EndpointResponse answer, boolean isTest, Duration untried, double random) {
    if (answer.succeeded()) {
      return new Verdict(SUCCEEDED, null, null);
    }
    if (answer.isGone()) {
      return new Verdict(FAILED, null, "the receiver answered 410: it wants no more deliveries");
    }
    if (isTest) {
      return new Verdict(FAILED, null, null);
    }
    if (untried.isNegative() || untried.isZero()) {
      return new Verdict(
          FAILED, null, "a delivery failed for a day; the last attempt: " + answer.message());
    }
    return new Verdict(PENDING, pause(untried, random), null);
  }

  private static Duration pause(Duration untried, double random) {
    double tried = seconds(PATIENCE.minus(untried));
    double longest = seconds(LONGEST_PAUSE) / (1 + JITTER);
    double pause = Math.min(seconds(FIRST_PAUSE) + Math.max(0, tried), longest);
    double jittered = pause * (1 + JITTER * random);
    return Duration.ofMillis(Math.round(1_000 * Math.min(jittered, seconds(untried))));
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1_000.0;
  }
}
