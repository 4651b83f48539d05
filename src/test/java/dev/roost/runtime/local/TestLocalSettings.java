package dev.roost.runtime.local;

import dev.roost.config.RoostConfig;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.file.Path;
import java.util.Map;

/** TestLocalSettings made by hand, for tests without Quarkus. */
public final class TestLocalSettings {
  private TestLocalSettings() {}

  public static SmallRyeConfig of(Path data, Map<String, String> others) {
    SmallRyeConfigBuilder builder =
        new SmallRyeConfigBuilder()
            .addDiscoveredConverters()
            .withMapping(RoostConfig.class)
            .withDefaultValue("roost.data", data.toString());
    others.forEach(builder::withDefaultValue);
    return builder.build();
  }

  public static RoostConfig roost(Path data, Map<String, String> others) {
    return of(data, others).getConfigMapping(RoostConfig.class);
  }
}
