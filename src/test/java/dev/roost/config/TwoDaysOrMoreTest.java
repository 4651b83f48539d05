package dev.roost.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TwoDaysOrMoreTest {
  @Test
  void twoDaysAreEnough() {
    assertEquals(Duration.ofDays(2), events("48h"));
    assertEquals(Duration.ofDays(30), events("30d"));
  }

  @Test
  void lessIsRefusedWithTheNameOfTheProperty() {
    Exception refused = assertThrows(ConfigValidationException.class, () -> events("47h"));
    assertTrue(refused.getMessage().contains("roost.retention.events"), refused.getMessage());
    assertTrue(refused.getMessage().contains("must be at least 2d"), refused.getMessage());
  }

  private static Duration events(String value) {
    return new SmallRyeConfigBuilder()
        .withMapping(RoostConfig.Retention.class, "roost.retention")
        .withConverter(
            Duration.class, 200, new io.quarkus.runtime.configuration.DurationConverter())
        .withDefaultValue("roost.retention.events", value)
        .build()
        .getConfigMapping(RoostConfig.Retention.class, "roost.retention")
        .events();
  }
}
