package dev.roost.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quarkus.runtime.configuration.DurationConverter;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsCheckTest {
  private static Optional<String> mistake(Map<String, String> settings) {
    SmallRyeConfigBuilder builder =
        new SmallRyeConfigBuilder()
            .withMapping(RoostConfig.class)
            .addDefaultInterceptors()
            .withConverter(Duration.class, 200, new DurationConverter())
            .withDefaultValue("user.home", "/home/x");
    settings.forEach(builder::withDefaultValue);
    return SettingsCheck.mistake(builder.build().getConfigMapping(RoostConfig.class));
  }

  @Test
  void theDefaultsAreLegal() {
    assertEquals(Optional.empty(), mistake(Map.of()));
  }

  @ParameterizedTest
  @CsvSource({
    "roost.limits.script-bytes, -1",
    "roost.limits.script-bytes, 0",
    "roost.limits.store-bytes, -1073741824",
    "roost.limits.requests-per-minute, -1",
    "roost.builds.timeout, -15m",
    "roost.builds.timeout, 0s",
    "roost.executors.lease, -1s",
    "roost.retention.unused-builds, -1d",
    "roost.kubernetes.cpu-request-ratio, -0.5",
    "roost.kubernetes.builder-cpu, 0",
    "roost.sessions.lifetime, 0s",
    "roost.internal-port, -1",
    "roost.port, -1",
    "roost.drain, -1s"
  })
  void whatCantBeMeantIsRefusedWithItsName(String property, String value) {
    String mistake = mistake(Map.of(property, value)).orElseThrow();
    assertTrue(mistake.startsWith(property + ": must "), mistake);
  }

  @ParameterizedTest
  @CsvSource({
    "roost.retention.unused-builds, 0s",
    "roost.limits.requests-per-minute, 0",
    "roost.executors.grace, 0s",
    "roost.kubernetes.memory-request-ratio, 0",
    "roost.drain, 0",
    "roost.port, 0"
  })
  void zeroIsLegalWhereItMeansSomething(String property, String value) {
    assertEquals(Optional.empty(), mistake(Map.of(property, value)));
  }

  @Test
  void whereFilesAreMustBeClear() {
    Map<String, String> both = Map.of("roost.files.bucket", "b", "roost.files.directory", "/files");
    assertTrue(mistake(both).orElseThrow().contains("either"));
    Map<String, String> half = Map.of("roost.files.bucket", "b", "roost.files.access-key", "k");
    assertTrue(mistake(half).orElseThrow().contains("roost.files.secret-key"));
    for (String url :
        List.of("s3.example.org", "ftp://s3", "https://k:s@s3", "https://s3/bucket")) {
      assertTrue(mistake(Map.of("roost.files.endpoint", url)).isPresent(), url);
    }
    assertEquals(
        Optional.empty(), mistake(Map.of("roost.files.endpoint", "http://10.0.0.1:9000/")));
  }

  @ParameterizedTest
  @CsvSource({
    "https://login.example.org/realms/main, true",
    "http://127.0.0.1:8180, true",
    "http://login.example.org, false",
    "login.example.org, false",
    "https://login.example.org/#x, false",
    "https://user:secret@login.example.org, false"
  })
  void issuersAreReachedSafely(String issuer, boolean isLegal) {
    Map<String, String> settings =
        Map.of("roost.public-url", "https://roost.example.org", "roost.oauth.issuer", issuer);
    assertEquals(isLegal, mistake(settings).isEmpty());
  }

  @Test
  void anIssuerRequiresThePublicUrl() {
    assertEquals(
        Optional.of("roost.oauth.issuer requires roost.public-url"),
        mistake(Map.of("roost.oauth.issuer", "https://login.example.org")));
  }
}
