package dev.roost.execution;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.log.LogEntry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the output of an ended executor's two processes: the second delivery path of {@code
 * docs/executor-link.md}.
 */
public final class ExecutorOutputs {
  /** {@code [time execution/seq stream(+) (level logger)] message}. */
  private static final Pattern LINE =
      Pattern.compile(
          "\\[(?<time>\\S++) (?<execution>exec_[0-9a-z]++)/(?<seq>\\d++) (?<stream>stdout|stderr|logging|system)(?<more>\\+?+)"
              + "(?: (?<level>\\S++) (?<logger>.+?))?\\] (?<message>.*+)",
          Pattern.DOTALL);

  /**
   * Limits what precedes an entry's message, and what a frame contains besides the return value.
   */
  private static final int REST_CHARACTERS = 1 << 20;

  private final ObjectMapper mapper;
  private final FrameLimits limits;

  public ExecutorOutputs(ObjectMapper mapper, RoostConfig.Limits limits) {
    this(mapper, FrameLimits.of(limits));
  }

  /**
   * @param limits how much is held in memory, since scripts may write to these outputs
   */
  ExecutorOutputs(ObjectMapper mapper, FrameLimits limits) {
    this.mapper = mapper;
    this.limits = limits;
  }

  /**
   * What the output contains about one execution.
   *
   * @param entered when main was called, or null
   * @param outcome the outcome in the last frame, or null
   */
  public record Found(List<LogEntry> entries, Instant entered, Outcome outcome) {}

  /** Either stream may be null, or end in the middle of a line. */
  public Found read(String executionId, InputStream frames, InputStream log) throws IOException {
    Instant entered = null;
    Outcome outcome = null;
    try (BufferedReader reader = reader(frames)) {
      // The return value is ASCII JSON inside JSON: escaping at most doubles its length.
      int longest = 2 * limits.returnValueBytes() + REST_CHARACTERS;
      for (String line = nextLine(reader, longest);
          line != null;
          line = nextLine(reader, longest)) {
        Frame frame = frame(executionId, line);
        if (frame instanceof Frame.Started started) {
          entered = started.time();
        } else if (frame instanceof Frame.End end) {
          outcome = end.outcome();
        }
      }
    }
    List<LogEntry> entries = new ArrayList<>();
    try (BufferedReader reader = reader(log)) {
      int longest = limits.lineBytes() + REST_CHARACTERS;
      FrameLimits.Admitted admitted = limits.admit(0, 0, List.of());
      for (String line = nextLine(reader, longest);
          line != null && !admitted.cut();
          line = nextLine(reader, longest)) {
        Matcher match = LINE.matcher(line);
        Optional<LogEntry> entry =
            match.matches() && match.group("execution").equals(executionId)
                ? entry(match)
                : Optional.empty();
        if (entry.isPresent()) {
          admitted = limits.admit(admitted.bytes(), entries.size(), List.of(entry.get()));
          entries.add(entry.get());
        }
      }
    }
    return new Found(entries, entered, outcome);
  }

  private Frame frame(String executionId, String line) {
    if (!line.contains(executionId)) {
      return null;
    }
    try {
      JsonNode node = mapper.readTree(line);
      boolean mine = node.path("execution_id").asText().equals(executionId);
      return mine ? Frame.parse(mapper, node.path("frame").toString()) : null;
    } catch (JsonProcessingException | Problem e) {
      return null; // the process was killed while it wrote this line
    }
  }

  private static Optional<LogEntry> entry(Matcher match) {
    try {
      return Optional.of(
          new LogEntry(
              Integer.parseInt(match.group("seq")),
              Frame.time(match.group("time")),
              match.group("stream"),
              Text.storable(match.group("level")),
              Text.storable(match.group("logger")),
              Text.storable(match.group("message")),
              !match.group("more").isEmpty()));
    } catch (NumberFormatException | DateTimeException e) {
      return Optional.empty(); // not a line of the runner: scripts may write to its output
    }
  }

  /**
   * Reads up to the next newline; a line that is too long is cut. A carriage return, as in progress
   * bars, is part of the line.
   */
  private static String nextLine(BufferedReader reader, int longest) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = reader.read(); c != '\n'; c = reader.read()) {
      if (c < 0) {
        return line.isEmpty() ? null : line.toString();
      }
      if (line.length() < longest) {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  private static BufferedReader reader(InputStream bytes) {
    InputStream some = bytes == null ? InputStream.nullInputStream() : bytes;
    return new BufferedReader(new InputStreamReader(some, StandardCharsets.UTF_8));
  }
}
