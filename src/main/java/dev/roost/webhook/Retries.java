package dev.roost.webhook;

import java.time.Duration;

/** When what could not be sent is sent again. */
public final class Retries {
  /** The time limit, from the first attempt. */
  public static final Duration PERIOD = Duration.ofDays(1);

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  private static final Duration LONGEST_PAUSE = Duration.ofHours(1);

  /** The maximum random extension of a pause, as a fraction, so that retries spread out. */
  private static final double JITTER = 0.2;

  private Retries() {}

  /**
   * Pauses roughly double: each pause is as long as the time since the first attempt, plus a bit.
   * One more attempt follows at the end of the day.
   *
   * @param untried the rest of {@link #PERIOD}
   * @param random from 0 to 1
   */
  public static Duration pause(Duration untried, double random) {
    double tried = seconds(PERIOD.minus(untried));
    double longest = seconds(LONGEST_PAUSE) / (1 + JITTER);
    double pause = Math.min(seconds(FIRST_PAUSE) + Math.max(0, tried), longest);
    double jittered = pause * (1 + JITTER * random);
    return Duration.ofMillis(Math.round(1_000 * Math.min(jittered, seconds(untried))));
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1_000.0;
  }
}
