package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.api.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class WorkTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static final Map<String, String> TRACE =
      Map.of("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

  static {
    new Json().customize(MAPPER);
  }

  private static Work work(Instant scheduledTime, Work.AgentCode code) {
    return work(scheduledTime, Map.of(), code);
  }

  private static Work work(
      Instant scheduledTime, Map<String, String> environment, Work.AgentCode code) {
    return new Work(
        "exec_…",
        "xjob_…",
        "agent_…",
        1,
        scheduledTime,
        900.0,
        256,
        "{\"n\": 41}",
        null,
        List.of(new Work.Store("greeter", "store_…")),
        new Work.Limits(
            16777216, 65536, 33554432, 1048576, 256, 1024, 512, 1048576, 300.0, 10.0, 10.0,
            1048576),
        environment,
        null,
        false,
        List.of(),
        code);
  }

  @Test
  void theAnswerToAPollIsWhatTheDocumentShows() throws IOException {
    Matcher example =
        Pattern.compile("Work:\n```json\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(Path.of("docs", "executor-link.md")));
    assertTrue(example.find(), "the document has an example of work");
    Work.Preload preload = new Work.Preload(List.of("pandas", "pandas._libs"));
    Work.AgentCode code =
        new Work.AgentCode(
            3, "def main(request): …", null, Map.of("LANG", "en"), null, preload, true);
    assertEquals(
        MAPPER.readTree(example.group(1)).toPrettyString(),
        MAPPER.readTree(MAPPER.writeValueAsString(work(null, TRACE, code))).toPrettyString());
  }

  @Test
  void theScriptIsLeftOutForAnExecutorThatHasIt() throws IOException {
    assertFalse(MAPPER.readTree(MAPPER.writeValueAsString(work(null, null))).has("agent"));
  }

  @Test
  void whatIsPreloadedCanBeNothingOrUnknown() throws IOException {
    assertEquals("{\"preload\":null}", preload(null));
    assertEquals("{\"preload\":{\"modules\":null}}", preload(new Work.Preload(null)));
    assertEquals("{\"preload\":{\"modules\":[]}}", preload(new Work.Preload(List.of())));
  }

  private static String preload(Work.Preload preload) throws IOException {
    JsonNode agent =
        MAPPER.valueToTree(new Work.AgentCode(1, "", null, Map.of(), null, preload, null));
    return ((ObjectNode) agent).retain("preload").toString();
  }

  @Test
  void theBundleIsNamedIfThereIsOne() {
    Work.Bundle bundle = new Work.Bundle("bundle_…", "src/main.py");
    JsonNode with =
        MAPPER.valueToTree(new Work.AgentCode(1, "", bundle, Map.of(), null, null, null));
    assertEquals(
        "{\"id\":\"bundle_…\",\"script\":\"src/main.py\"}", with.path("bundle").toString());
    JsonNode without =
        MAPPER.valueToTree(new Work.AgentCode(1, "", null, Map.of(), null, null, null));
    assertFalse(without.has("bundle"));
  }

  @Test
  void namesOfVariablesAreNoFieldsOfOurs() throws IOException {
    Work.AgentCode code =
        new Work.AgentCode(1, "", null, Map.of("camelCase", "1", "UPPER", "2"), null, null, null);
    JsonNode variables =
        MAPPER.readTree(MAPPER.writeValueAsString(work(null, code))).path("agent").path("env_vars");
    assertEquals(MAPPER.readTree("{\"camelCase\": \"1\", \"UPPER\": \"2\"}"), variables);
  }

  @Test
  void timesHaveMicroseconds() throws IOException {
    Instant time = Instant.parse("2026-11-21T18:00:00Z");
    assertEquals(
        "2026-11-21T18:00:00.000000Z",
        MAPPER
            .readTree(MAPPER.writeValueAsString(work(time, null)))
            .path("scheduled_time")
            .textValue());
  }
}
