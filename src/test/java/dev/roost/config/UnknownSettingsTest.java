package dev.roost.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.smallrye.config.PropertiesConfigSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnknownSettingsTest {
  private static Optional<String> mistake(String name) {
    return UnknownSettings.mistake(
        List.of(new PropertiesConfigSource(Map.of(name, "1"), "test", 300)));
  }

  @ParameterizedTest
  @CsvSource({
    "roost.builds.concurency, roost.builds.concurrency",
    "roost.build.concurrency, roost.builds.concurrency",
    "roost.kubernetes.max-executor, roost.kubernetes.max-executors",
    "roost.Port, roost.port",
    "ROOST_BUILDS_CONCURENCY, ROOST_BUILDS_CONCURRENCY",
    "ROOST_LIMIT_PAYLOAD_BYTES, ROOST_LIMITS_PAYLOAD_BYTES",
    "ROOST_PROT, ROOST_PORT"
  })
  void aMisspeltNameIsRefusedWithTheOneThatWasMeant(String given, String meant) {
    assertEquals(
        Optional.of("there is no setting " + given + "; did you mean " + meant + "?"),
        mistake(given));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "roost.kubernetes.node-selector",
        "roost.nothing-like-it",
        "ROOST_LIMITS_OF_NOTHING"
      })
  void whatIsLikeNoneIsRefusedWithoutAGuess(String given) {
    assertEquals(
        Optional.of("there is no setting " + given + "; docs/settings.md lists all settings"),
        mistake(given));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "roost.port",
        "roost.builds.index-url",
        "roost.kubernetes.base-images.\"3.13\"",
        "roost.kubernetes.node-selector.\"example.org/agents\"",
        "roost.local.sandbox-readable[1]",
        "ROOST_BUILDS_INDEX_URL",
        "ROOST_LOCAL_SANDBOX_READABLE_1_",
        "ROOST_KUBERNETES_BASE_IMAGES__3_13_"
      })
  void settingsAreAccepted(String given) {
    assertEquals(Optional.empty(), mistake(given));
  }

  @ParameterizedTest
  @ValueSource(strings = {"ROOST_URL", "ROOST_API_KEY", "ROOST_PROFILE", "ROOST_TEST_JAR", "PATH"})
  void whatIsForOthersIsLeftAlone(String given) {
    assertEquals(Optional.empty(), mistake(given));
  }

  @Test
  void quarkusLooksAfterItsOwn() {
    assertEquals(Optional.empty(), mistake("quarkus.log.level"));
  }
}
