package dev.roost.notification;

import dev.roost.config.RoostConfig;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.HashMap;
import java.util.Map;

/** Settings of a mail server, without a whole application. */
final class TestMailSettings {
  private TestMailSettings() {}

  static RoostConfig config(Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("user.home", "/nowhere");
    return new SmallRyeConfigBuilder()
        .addDiscoveredConverters()
        .withMapping(RoostConfig.class)
        .withSources(new PropertiesConfigSource(all, "test", 500))
        .build()
        .getConfigMapping(RoostConfig.class);
  }

  static MailSettings of(Map<String, String> settings) {
    return new MailSettings(config(settings));
  }
}
