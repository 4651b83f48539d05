package dev.roost.overview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.config.RoostConfig;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class SettingsReaderTest {
  private static Map<String, Setting> settings(Map<String, String> given) {
    List<Setting> all =
        new SettingsReader(
                new SmallRyeConfigBuilder()
                    .addDiscoveredConverters()
                    .addDefaultInterceptors()
                    .withMapping(RoostConfig.class)
                    .withSources(new PropertiesConfigSource(given, "test", 300))
                    .withDefaultValue("user.home", "/home/ada")
                    .build())
            .read();
    return all.stream().collect(Collectors.toMap(Setting::name, Function.identity()));
  }

  @Test
  void everySettingIsReportedWithItsDefault() {
    Map<String, Setting> settings = settings(Map.of("roost.port", "8090"));
    assertEquals(
        new Setting("roost.port", "ROOST_PORT", "8090", "8080", "The TCP port to listen on.", true),
        settings.get("roost.port"));
    Setting host = settings.get("roost.host");
    assertEquals("127.0.0.1", host.value());
    assertFalse(host.set());
    Setting data = settings.get("roost.data");
    assertEquals("/home/ada/.roost", data.value());
    assertEquals("~/.roost", data.defaultValue());
    Setting url = settings.get("roost.database.url");
    assertNull(url.value());
    assertNull(url.defaultValue());
    assertFalse(url.set());
    assertEquals("14d", settings.get("roost.sessions.lifetime").value());
    assertTrue(settings.size() > 60, settings.keySet().toString());
  }

  @Test
  void noPasswordIsReturned() {
    Map<String, Setting> settings =
        settings(
            Map.of(
                "roost.database.password",
                "hunter2",
                "roost.database.url",
                "jdbc:postgresql://db/roost?user=roost&password=hunter2&ssl=true",
                "roost.builds.index-url",
                "https://ada:hunter2@pypi.example.org/simple",
                "roost.kubernetes.base-images.\"3.13\"",
                "python@sha256:1",
                "roost.kubernetes.registry-secret",
                "pull"));
    assertEquals("(set)", settings.get("roost.database.password").value());
    assertTrue(settings.get("roost.database.password").set());
    assertEquals(
        "jdbc:postgresql://db/roost?user=***&password=***&ssl=true",
        settings.get("roost.database.url").value());
    assertEquals(
        "https://***@pypi.example.org/simple", settings.get("roost.builds.index-url").value());
    assertEquals("pull", settings.get("roost.kubernetes.registry-secret").value());
    Setting images = settings.get("roost.kubernetes.base-images.*");
    assertEquals("\"3.13\"=python@sha256:1", images.value());
    assertNull(images.environment());
    assertFalse(settings.toString().contains("hunter2"));
  }
}
