package dev.roost.builds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.builds.Advisories.Advisory;
import io.quarkus.runtime.StartupEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdvisoriesTest {
  private static final String OLD = "python:3.13@sha256:old";
  private static final String NEW = "python:3.13@sha256:new";

  @TempDir Path directory;

  private Advisories reading(String json) throws IOException {
    Path file = Files.writeString(directory.resolve("advisories.json"), json);
    Advisories advisories = new Advisories(Optional.of(file), new ObjectMapper());
    advisories.start(new StartupEvent());
    return advisories;
  }

  @Test
  void whatTheNewBaseHasTooIsNotFixed() throws IOException {
    Advisories advisories =
        reading(
            """
            [{"image": "sha256:old", "id": "CVE-1", "severity": "high", "summary": "OpenSSL"},
             {"image": "sha256:old", "id": "CVE-2"},
             {"image": "sha256:new", "id": "CVE-2"}]""");
    assertEquals(List.of(new Advisory("CVE-1", "high", "OpenSSL")), advisories.fixed(OLD, NEW));
    assertEquals(List.of(), advisories.fixed(NEW, OLD));
    assertEquals(List.of(), advisories.fixed("python:3.13", NEW), "which one it was is not known");
    assertEquals(List.of(), advisories.fixed(null, NEW));
  }

  @Test
  void withoutAFileNothingIsKnown() {
    Advisories none = new Advisories(Optional.empty(), new ObjectMapper());
    none.start(new StartupEvent());
    assertEquals(List.of(), none.fixed(OLD, NEW));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}|it must be a list",
        "[{\"id\": \"CVE-1\"}]|advisory 1 must have",
        "[{\"id\": \"CVE-1\", \"image\": \"python:3.13\"}]|advisory 1 must have",
        "[|it is not valid JSON",
        "[3]|advisory 1 must have"
      })
  void aFileThatCanNotBeUsedStopsTheStart(String json, String why) {
    IllegalStateException refused = assertThrows(IllegalStateException.class, () -> reading(json));
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
    assertTrue(refused.getMessage().startsWith("roost.rollouts.advisories: "));
  }
}
