package dev.roost.webhook;

import dev.roost.state.DeliveryState;
import java.time.Duration;

/**
 * The consequence of an attempt.
 *
 * @param state of the delivery
 * @param pause before the next attempt; null: there is none
 * @param disabled why the webhook is disabled; null: it isn't
 */
record Verdict(DeliveryState state, Duration pause, String disabled) {
  /** The time limit for a delivery, from its first attempt. */
  static final Duration RETRY_PERIOD = Duration.ofDays(1);

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  private static final Duration LONGEST_PAUSE = Duration.ofHours(1);

  /** The maximum random extension of a pause, as a fraction, so that retries spread out. */
  private static final double JITTER = 0.2;

  /**
   * Pauses roughly double: each pause is as long as the time since the first attempt, plus a bit.
   * One more attempt follows at the end of the day.
   *
   * @param untried the rest of {@link #RETRY_PERIOD}
   * @param isTest a test has one attempt, since its user waits for the result
   * @param random from 0 to 1
   */
  static Verdict of(EndpointResponse answer, boolean isTest, Duration untried, double random) {
    if (answer.succeeded()) {
      return new Verdict(DeliveryState.SUCCEEDED, null, null);
    }
    if (answer.isGone()) {
      return new Verdict(
          DeliveryState.FAILED,
          null,
          "the receiver responded with 410, so it accepts no more deliveries");
    }
    if (isTest) {
      return new Verdict(DeliveryState.FAILED, null, null);
    }
    if (untried.isNegative() || untried.isZero()) {
      return new Verdict(
          DeliveryState.FAILED,
          null,
          "a delivery failed for a day; the last attempt: " + answer.message());
    }
    return new Verdict(DeliveryState.PENDING, pause(untried, random), null);
  }

  private static Duration pause(Duration untried, double random) {
    double tried = seconds(RETRY_PERIOD.minus(untried));
    double longest = seconds(LONGEST_PAUSE) / (1 + JITTER);
    double pause = Math.min(seconds(FIRST_PAUSE) + Math.max(0, tried), longest);
    double jittered = pause * (1 + JITTER * random);
    return Duration.ofMillis(Math.round(1_000 * Math.min(jittered, seconds(untried))));
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1_000.0;
  }
}
