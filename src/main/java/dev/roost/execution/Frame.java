package dev.roost.execution;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.agent.HintedSchemas;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.db.Code;
import dev.roost.log.LogEntry;
import dev.roost.state.ExecutionState;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A message from an executor about an execution, as {@code docs/executor-link.md} specifies.
 * Executors run users' code, so everything in a frame is checked.
 */
public sealed interface Frame {
  Set<String> STREAMS = Set.of("stdout", "stderr", "logging", "system");
  Set<ExecutionState> FAILED_STATES =
      EnumSet.of(
          ExecutionState.FAILED,
          ExecutionState.TIMED_OUT,
          ExecutionState.CANCELLED,
          ExecutionState.LOST);

  /** Twice the limit that executors apply. */
  int MESSAGE_CHARACTERS = 4_000;

  int TRACEBACK_CHARACTERS = 131_072;

  int MOST_WAITS = 100_000;

  /** From 1, without gaps, for each execution. */
  int seq();

  /**
   * main is about to be called.
   *
   * @param schemas of its type hints; null: the work didn't ask for them
   */
  record Started(int seq, Instant time, HintedSchemas schemas) implements Frame {}

  record Log(int seq, List<LogEntry> entries) implements Frame {}

  /** The last frame. */
  record End(int seq, Outcome outcome) implements Frame {}

  /**
   * Reads frames, one per line; ignores blank lines.
   *
   * @param utf8 is read in place: one frame may hold a return value of many MiB
   * @throws Problem malformed_json
   */
  static List<Frame> parseLines(ObjectMapper mapper, byte[] utf8) {
    List<Frame> frames = new ArrayList<>();
    for (int from = 0, to; from < utf8.length; from = to + 1) {
      to = from;
      boolean blank = true;
      while (to < utf8.length && utf8[to] != '\n') {
        blank &= utf8[to] == ' ' || utf8[to] == '\t' || utf8[to] == '\r';
        to++;
      }
      if (!blank) {
        int start = from;
        int length = to - from;
        frames.add(parse(() -> reader(mapper).readTree(utf8, start, length)));
      }
    }
    return frames;
  }

  /**
   * Reads one line.
   *
   * @throws Problem malformed_json
   */
  static Frame parse(ObjectMapper mapper, String line) {
    return parse(() -> reader(mapper).readTree(line));
  }

  private static ObjectReader reader(ObjectMapper mapper) {
    return mapper.reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  }

  /** Reads the JSON of one line, from a string or from bytes. */
  @FunctionalInterface
  interface Line {
    JsonNode read() throws IOException;
  }

  private static Frame parse(Line line) {
    try {
      JsonNode node = line.read();
      JsonNode seqNode = node.path("seq");
      int seq = seqNode.intValue();
      if (!seqNode.isIntegralNumber() || !seqNode.canConvertToInt() || seq < 1) {
        throw malformed("a frame has no seq");
      }
      return switch (node.path("type").asText()) {
        case "started" -> new Started(seq, time(node), schemas(node.path("schemas")));
        case "log" -> new Log(seq, entries(node.path("entries")));
        case "returned" -> new End(seq, returned(node));
        case "failed" -> new End(seq, failed(node));
        case "suspended" -> new End(seq, suspended(node));
        default -> throw malformed("a frame has the unknown type " + node.path("type"));
      };
    } catch (IOException | DateTimeException e) {
      throw malformed(e.getMessage());
    }
  }

  private static HintedSchemas schemas(JsonNode node) {
    return node.isObject() ? HintedSchemas.of(node) : null;
  }

  private static List<LogEntry> entries(JsonNode nodes) {
    List<LogEntry> entries = new ArrayList<>(nodes.size());
    for (JsonNode node : nodes) {
      String stream = node.path("stream").asText();
      if (!STREAMS.contains(stream)) {
        throw malformed("a log entry has the unknown stream " + node.path("stream"));
      }
      entries.add(
          new LogEntry(
              node.path("seq").intValue(),
              time(node),
              stream,
              Text.storable(node.path("level").textValue()),
              Text.storable(node.path("logger").textValue()),
              Text.storable(node.path("message").asText()),
              node.path("continued").booleanValue()));
    }
    return entries;
  }

  private static Outcome returned(JsonNode node) {
    String value = node.path("value").textValue();
    if (value == null || Text.unstorable(value).isPresent() || !JsonText.isValid(value)) {
      return outcome(
          node,
          ExecutionState.FAILED,
          ExecutionReason.NOT_JSON,
          "The return value is not valid JSON. Check whether the script writes to a file descriptor "
              + "that it did not open.",
          null,
          null);
    }
    return outcome(node, ExecutionState.SUCCEEDED, null, null, null, value);
  }

  private static Outcome failed(JsonNode node) {
    ExecutionReason reason =
        ExecutionReason.of(node.path("reason").asText())
            .orElseThrow(() -> malformed("unknown reason " + node.path("reason")));
    ExecutionState state =
        Code.find(ExecutionState.class, node.path("state").asText())
            .filter(FAILED_STATES::contains)
            .orElseThrow(() -> malformed("unknown state " + node.path("state")));
    JsonNode error = node.path("error");
    return outcome(
        node,
        state,
        reason,
        FrameLimits.bounded(Text.storable(node.path("message").textValue()), MESSAGE_CHARACTERS),
        error.isObject() ? error(error).toString() : null,
        null);
  }

  /** An execution waits for one thing as a rule, and for as many as it has steps at most. */
  private static Outcome suspended(JsonNode node) {
    List<Integer> waits = new ArrayList<>();
    for (JsonNode wait : node.path("waits")) {
      if (!wait.canConvertToInt() || waits.size() == MOST_WAITS) {
        throw malformed("waits has too many numbers, or something else");
      }
      waits.add(wait.intValue());
    }
    return outcome(node, ExecutionState.SUSPENDED, null, null, null, null)
        .withWaits(new Outcome.Waits(List.copyOf(waits), node.path("all").asBoolean(false)));
  }

  /** Returns the known fields, cut to the limits; executors don't exceed them. */
  private static JsonNode error(JsonNode given) {
    ObjectNode error = JsonNodeFactory.instance.objectNode();
    for (String name : List.of("type", "message", "traceback")) {
      if (given.has(name)) {
        String text = Text.storable(given.path(name).textValue());
        error.put(name, FrameLimits.bounded(text, TRACEBACK_CHARACTERS));
      }
    }
    for (String name : List.of("line", "column")) {
      JsonNode place = given.path(name);
      if (given.has(name)) {
        error.put(name, place.canConvertToInt() ? (Integer) place.intValue() : null);
      }
    }
    return error;
  }

  private static Outcome outcome(
      JsonNode node,
      ExecutionState state,
      ExecutionReason reason,
      String message,
      String error,
      String value) {
    JsonNode usage = node.path("usage");
    return new Outcome(
        state,
        reason,
        message,
        error,
        value,
        node.path("logs_truncated").booleanValue(),
        cpuSeconds(usage.path("cpu_seconds")),
        usage.path("max_memory_bytes").canConvertToLong()
            ? usage.path("max_memory_bytes").longValue()
            : null,
        time(node));
  }

  /** Null for infinity, which 1e999 becomes and JSON can't represent. */
  private static Double cpuSeconds(JsonNode node) {
    return node.isNumber() && Double.isFinite(node.doubleValue()) ? node.doubleValue() : null;
  }

  private static Instant time(JsonNode node) {
    return time(node.path("time").asText());
  }

  /**
   * @throws DateTimeException also for a year that RFC 3339 can't represent
   */
  static Instant time(String text) {
    Instant time = Instant.parse(text);
    int year = time.atOffset(ZoneOffset.UTC).getYear();
    if (year < 0 || year > 9_999) {
      throw new DateTimeException("no such year: " + year);
    }
    return time;
  }

  private static Problem malformed(String detail) {
    return Problem.of(ErrorCode.MALFORMED_JSON, "Not a frame: " + detail);
  }
}
