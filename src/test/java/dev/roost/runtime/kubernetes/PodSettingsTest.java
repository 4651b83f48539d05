package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodSettingsTest {
  @ParameterizedTest(name = "{0} = \"{1}\"")
  @CsvSource(
      delimiter = '|',
      value = {
        "roost.kubernetes.executor-url         | ''",
        "roost.kubernetes.repository           | ''",
        "roost.link.certificate                | /etc/roost/link/tls.crt",
        "roost.kubernetes.cpu-request-ratio    | -0.1",
        "roost.kubernetes.cpu-request-ratio    | 1.01",
        "roost.kubernetes.cpu-request-ratio    | NaN",
        "roost.kubernetes.memory-request-ratio | 2",
        "roost.kubernetes.tolerations          | no JSON",
        "roost.kubernetes.tolerations          | {\"key\": \"one\"}",
        "roost.kubernetes.tolerations          | [{\"kee\": \"one\"}]",
        "roost.kubernetes.tolerations          | [null]",
        "roost.kubernetes.profiles             | no JSON",
        "roost.kubernetes.profiles             | null",
        "roost.kubernetes.profiles             | {\"a\": null}",
        "roost.kubernetes.profiles             | {\"a\": {\"extendedResources\": {\"gpu\": 1}}}",
        "roost.kubernetes.profiles             | {\"a\": {\"extendedResources\": {\"nvidia.com/gpu\": 0}}}",
        "roost.kubernetes.profiles             | {\"a\": {\"ephemeralStorage\": {\"requestMib\": 2, \"limitMib\": 1}}}",
        "roost.kubernetes.profiles             | {\"a\": {\"cpuLimit\": 0}}",
        "roost.kubernetes.profiles             | {\"a\": {\"maxMemoryMib\": -1}}",
        "roost.kubernetes.profiles             | {\"A b\": {}}",
        "roost.kubernetes.profiles             | {\"a\": {\"runtimeClas\": \"gvisor\"}}",
        "roost.kubernetes.profiles             | {\"a\": {\"seccompProfile\": {\"type\": \"Unconfined\"}}}",
        "roost.kubernetes.profiles             | {\"a\": {\"seccompProfile\": {\"type\": \"Localhost\"}}}",
        "roost.kubernetes.profiles             | {\"a\": {\"tolerations\": [{\"kee\": \"one\"}]}}",
        "roost.kubernetes.egress-allowed       | db.example.org:5432",
        "roost.kubernetes.egress-allowed       | 10.0.0.7",
        "roost.kubernetes.builder-memory-mib   | 0",
        "roost.kubernetes.builder-cpu          | 0",
        "roost.kubernetes.builder-disk-mib     | -1",
        "roost.builds.index-url                | https://user:secret@pypi.example.org/simple",
        "roost.builds.index-url                | https://token@pypi.example.org/simple"
      })
  void whatIsMissingOrWrongIsNamed(String name, String value) {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class, () -> TestPodSettings.pods(Map.of(name, value)), value);
    assertTrue(refused.getMessage().contains(name), refused.getMessage());
    assertTrue(!refused.getMessage().contains("secret@"), "credentials in a message");
  }

  @Test
  void whatIsNotSetHasADefault() {
    PodSettings settings = TestPodSettings.pods(Map.of());
    assertEquals("registry.example.org/roost/agents", settings.pullRepository());
    assertEquals("roost-agents", settings.namespace());
    assertEquals(List.of(), settings.imagePullSecrets());
    assertEquals(List.of(), settings.tolerations());
    assertEquals(Map.of(), settings.nodeSelector());
    assertEquals(Optional.empty(), settings.registrySecret());
  }

  @Test
  void anAtSignBehindTheHostIsNoCredential() {
    PodSettings settings =
        TestPodSettings.pods(
            Map.of("roost.builds.index-url", "https://pypi.example.org/@team/simple"));
    assertEquals(Optional.of("https://pypi.example.org/@team/simple"), settings.indexUrl());
  }
}
