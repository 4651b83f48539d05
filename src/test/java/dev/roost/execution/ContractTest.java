package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.api.Json;
import dev.roost.log.LogEntry;
import dev.roost.state.ExecutionState;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The cases under {@code src/test/resources/contract}: do these frames make this Execution? The
 * executor's tests ask whether the script makes these frames. With {@code -Dcontract.write=true}
 * every {@code expected.json} is written anew.
 */
class ContractTest {
  private static final Path CASES = Path.of("src", "test", "resources", "contract");
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String ID = "exec_contract";

  static List<String> cases() throws IOException {
    try (Stream<Path> files = Files.list(CASES)) {
      return files
          .filter(Files::isDirectory)
          .map(path -> path.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  private static List<String> lines(String name) throws IOException {
    return Files.readAllLines(CASES.resolve(name).resolve("frames.ndjson"));
  }

  private static List<Frame> frames(String name) throws IOException {
    return lines(name).stream().map(line -> Frame.parse(MAPPER, line)).toList();
  }

  private static List<LogEntry> entries(List<Frame> frames) {
    List<LogEntry> entries = new ArrayList<>();
    for (Frame frame : frames) {
      if (frame instanceof Frame.Log lines) {
        entries.addAll(lines.entries());
      }
    }
    return entries;
  }

  @Test
  void thereAreCases() throws IOException {
    assertTrue(cases().size() >= 25, () -> "looked in " + CASES.toAbsolutePath());
  }

  @ParameterizedTest
  @MethodSource("cases")
  void framesAndLogEntriesCountWithoutGapsAndTheLastFrameIsTheOnlyEnd(String name)
      throws IOException {
    List<Frame> frames = frames(name);
    for (int i = 0; i < frames.size(); i++) {
      assertEquals(i + 1, frames.get(i).seq());
      assertEquals(i == frames.size() - 1, frames.get(i) instanceof Frame.End);
    }
    List<LogEntry> entries = entries(frames);
    for (int i = 0; i < entries.size(); i++) {
      assertEquals(i + 1, entries.get(i).seq());
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theOutcomeSaysWhatTheLastFrameSays(String name) throws IOException {
    List<String> lines = lines(name);
    JsonNode last = MAPPER.readTree(lines.get(lines.size() - 1));
    Outcome outcome =
        assertInstanceOf(Frame.End.class, frames(name).get(lines.size() - 1)).outcome();
    if (last.path("type").asText().equals("returned")) {
      assertEquals(ExecutionState.SUCCEEDED, outcome.state());
      assertNull(outcome.reason());
      assertNull(outcome.error());
      assertEquals(last.path("value").textValue(), outcome.returnValue());
      MAPPER.readTree(outcome.returnValue());
    } else {
      assertEquals(last.path("state").textValue(), outcome.state().code());
      assertEquals(last.path("reason").textValue(), outcome.reason().code());
      assertEquals(last.path("message").textValue(), outcome.message());
      assertEquals(
          last.path("error"),
          outcome.error() == null ? MAPPER.nullNode() : MAPPER.readTree(outcome.error()));
      assertNull(outcome.returnValue());
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theFramesMakeThisExecution(String name) throws IOException {
    List<Frame> frames = frames(name);
    Instant entered = null;
    Outcome outcome = null;
    for (Frame frame : frames) {
      if (frame instanceof Frame.Started started) {
        entered = started.time();
      } else if (frame instanceof Frame.End end) {
        outcome = end.outcome();
      }
    }
    Path file = CASES.resolve(name).resolve("expected.json");
    JsonNode found = execution(entered, outcome, entries(frames));
    if (Boolean.getBoolean("contract.write")) {
      Files.writeString(file, found.toPrettyString() + "\n");
    }
    assertEquals(MAPPER.readTree(Files.readString(file)).toPrettyString(), found.toPrettyString());
  }

  /** What the two processes print of the frames makes the same Execution as the link. */
  @ParameterizedTest
  @MethodSource("cases")
  void theSecondWayHomeMakesTheSameExecution(String name) throws IOException {
    StringBuilder sidecar = new StringBuilder();
    StringBuilder runner = new StringBuilder();
    for (String line : lines(name)) {
      JsonNode frame = MAPPER.readTree(line);
      if (!frame.path("type").asText().equals("log")) {
        sidecar.append("{\"execution_id\": \"" + ID + "\", \"frame\": ").append(line).append("}\n");
      }
      for (JsonNode entry : frame.path("entries")) {
        runner.append(readable(entry)).append('\n');
      }
    }
    ExecutorOutputs.Found found =
        new ExecutorOutputs(MAPPER, new FrameLimits(1 << 24, 1 << 16, 1 << 25, 1 << 20))
            .read(ID, stream(sidecar), stream(runner));
    assertEquals(
        MAPPER
            .readTree(Files.readString(CASES.resolve(name).resolve("expected.json")))
            .toPrettyString(),
        execution(found.entered(), found.outcome(), found.entries()).toPrettyString());
  }

  private static InputStream stream(StringBuilder text) {
    return new ByteArrayInputStream(text.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** As docs/executor-link.md has it. */
  private static String readable(JsonNode entry) {
    String more = entry.path("continued").booleanValue() ? "+" : "";
    String origin =
        entry.path("stream").asText().equals("logging")
            ? " " + entry.path("level").asText() + " " + entry.path("logger").asText()
            : "";
    return "[%s %s/%d %s%s%s] %s"
        .formatted(
            entry.path("time").asText(),
            ID,
            entry.path("seq").intValue(),
            entry.path("stream").asText(),
            more,
            origin,
            entry.path("message").asText());
  }

  private static JsonNode execution(Instant entered, Outcome outcome, List<LogEntry> entries)
      throws IOException {
    ObjectNode execution = MAPPER.createObjectNode();
    execution.put("state", outcome.state().code());
    execution.put("reason", outcome.reason() == null ? null : outcome.reason().code());
    execution.put("message", outcome.message());
    execution.set(
        "error", outcome.error() == null ? MAPPER.nullNode() : MAPPER.readTree(outcome.error()));
    execution.put("return_value", outcome.returnValue());
    execution.put("entered", entered == null ? null : Json.time(entered));
    execution.put("finished_at", Json.time(outcome.time()));
    execution.put("cpu_seconds", outcome.cpuSeconds());
    execution.put("max_memory_bytes", outcome.maxMemoryBytes());
    execution.put("logs_truncated", outcome.logsTruncated());
    ArrayNode log = execution.putArray("log");
    for (LogEntry entry : entries) {
      ObjectNode node = log.addObject();
      node.put("seq", entry.seq());
      node.put("time", Json.time(entry.time()));
      node.put("stream", entry.stream());
      node.put("level", entry.level());
      node.put("logger", entry.logger());
      node.put("message", entry.message());
      node.put("continued", entry.continued());
    }
    return execution;
  }
}
