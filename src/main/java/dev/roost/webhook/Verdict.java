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
  /**
   * @param untried the rest of {@link Retries#PERIOD}
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
    return new Verdict(DeliveryState.PENDING, Retries.pause(untried, random), null);
  }
}
