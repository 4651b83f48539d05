package dev.roost.config;

import io.quarkus.runtime.configuration.DurationConverter;
import java.time.Duration;
import org.eclipse.microprofile.config.spi.Converter;

/**
 * A duration of at least two days, because readers of events must be able to be offline for that
 * long.
 */
public final class TwoDaysOrMore implements Converter<Duration> {
  private static final Duration LEAST = Duration.ofDays(2);

  @Override
  public Duration convert(String value) {
    Duration duration = DurationConverter.parseDuration(value);
    if (duration != null && duration.compareTo(LEAST) < 0) {
      throw new IllegalArgumentException("must be at least 2d, got \"" + value + "\"");
    }
    return duration;
  }
}
