package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.log.LogEntry;
import dev.roost.state.ExecutionState;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutorOutputsTest {
  private static final String ID = "exec_01kah3n2p4e8v9x0y1z2a3b4c5";
  private static final String OTHER = "exec_01kah3n2p4e8v9x0y1z2a3b4c6";
  private static final String AT = "2026-11-21T18:12:41.123456Z";
  private static final Instant TIME = Instant.parse(AT);
  private static final String STARTED =
      "{\"execution_id\": \"%s\", \"frame\": {\"seq\": 1, \"type\": \"started\", \"time\": \"%s\"}}\n";
  private static final String RETURNED =
      "{\"execution_id\": \"%s\", \"frame\": {\"seq\": 3, \"type\": \"returned\", \"value\": \"%s\", \"time\": \""
          + AT
          + "\"}}\n";

  @TempDir private Path directory;
  private FrameLimits limits = new FrameLimits(1 << 24, 1 << 16, 1 << 25, 1 << 20);
  private Path frames;
  private Path log;

  @BeforeEach
  void makeFiles() throws IOException {
    frames = directory.resolve("sidecar.log");
    log = directory.resolve("agent.log");
    Files.createFile(frames);
    Files.createFile(log);
  }

  private ExecutorOutputs.Found read() throws IOException {
    try (InputStream frameLines = open(frames);
        InputStream logLines = open(log)) {
      return new ExecutorOutputs(new ObjectMapper(), limits).read(ID, frameLines, logLines);
    }
  }

  private static InputStream open(Path file) throws IOException {
    return Files.exists(file) ? Files.newInputStream(file) : null;
  }

  private List<LogEntry> entries(String text) throws IOException {
    Files.writeString(log, text);
    return read().entries();
  }

  private static String head(int seq, String rest) {
    return "[" + AT + " " + ID + "/" + seq + " " + rest;
  }

  private static LogEntry plain(int seq, String stream, String message) {
    return new LogEntry(seq, TIME, stream, null, null, message, false);
  }

  private static LogEntry logged(int seq, String level, String logger, String message) {
    return new LogEntry(seq, TIME, "logging", level, logger, message, false);
  }

  @Test
  void theReadableLinesBecomeLogEntries() throws IOException {
    String text =
        head(1, "stdout] hello\n")
            + head(2, "stderr]   indented ☃ 🚀\n")
            + head(3, "system] 1,000 bytes of output were left out here\n")
            + head(4, "logging WARNING urllib3.connectionpool] Retrying\n")
            + head(5, "stdout+] the first part \n")
            + head(6, "stdout] and the rest\n")
            + head(7, "logging+ INFO root] long\n")
            + head(8, "stdout] \n");
    assertEquals(
        List.of(
            plain(1, "stdout", "hello"),
            plain(2, "stderr", "  indented ☃ 🚀"),
            plain(3, "system", "1,000 bytes of output were left out here"),
            logged(4, "WARNING", "urllib3.connectionpool", "Retrying"),
            new LogEntry(5, TIME, "stdout", null, null, "the first part ", true),
            plain(6, "stdout", "and the rest"),
            new LogEntry(7, TIME, "logging", "INFO", "root", "long", true),
            plain(8, "stdout", "")),
        entries(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[a] b]",
        "] ",
        "] [INFO x] y",
        "INFO app] not by logging",
        "[2026-11-21T18:12:41.123456Z " + OTHER + "/1 stdout] quoted",
        "50 %\r100 %",
        "\r",
        "\u001b[31mred\u001b[0m",
        "\u0085 \u2028 \u2029 \f \u000b",
        " leading and trailing "
      })
  void aMessageIsWhateverTheScriptWrote(String message) throws IOException {
    assertEquals(
        List.of(
            plain(1, "stdout", message),
            logged(2, "INFO", "app", message),
            plain(3, "stderr", "next")),
        entries(
            head(1, "stdout] ")
                + message
                + "\n"
                + head(2, "logging INFO app] ")
                + message
                + "\n"
                + head(3, "stderr] next\n")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"my app", "a  b ", "a.b-c_d", "a]b", "[a]", "größe", "a/b"})
  void aLoggerMayHaveAnyName(String logger) throws IOException {
    assertEquals(
        List.of(logged(1, "INFO", logger, "x [y] z")),
        entries(head(1, "logging INFO " + logger + "] x [y] z\n")));
  }

  @Test
  void linesOfOtherExecutionsAndOtherOriginArePassedOver() throws IOException {
    String text =
        "roost runner: a remark of its own\n\n"
            + head(1, "stdout] mine\n")
            + head(1, "stdout] not mine\n").replace(ID, OTHER)
            + "  "
            + head(9, "stdout] not at the start of the line\n")
            + head(2, "stdin] no such stream\n")
            + head(2, "stdout] mine too\n");
    assertEquals(
        List.of(plain(1, "stdout", "mine"), plain(2, "stdout", "mine too")), entries(text));
  }

  /** The files lie where scripts can write. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[yesterday " + ID + "/2 stdout] x",
        "[2026-99-21T18:12:41Z " + ID + "/2 stdout] x",
        "[+999999999-01-01T00:00:00Z " + ID + "/2 stdout] x",
        "[" + AT + " " + ID + "/99999999999999999999 stdout] x"
      })
  void aForgedLineIsPassedOver(String line) throws IOException {
    assertEquals(
        List.of(plain(1, "stdout", "a"), plain(2, "stdout", "b")),
        entries(head(1, "stdout] a\n") + line + "\n" + head(2, "stdout] b\n")));
  }

  @Test
  void whatNoDatabaseCanHoldIsReplaced() throws IOException {
    assertEquals(
        List.of(logged(1, "IN\ufffdFO", "a\ufffdb", "c\ufffdd")),
        entries(head(1, "logging IN\0FO a\0b] c\0d\n")));
  }

  @Test
  void bytesThatAreNoUtf8DoNotStopTheReading() throws IOException {
    byte[] text =
        (head(1, "stdout] caf\u00e9\n") + head(2, "stdout] next\n"))
            .getBytes(StandardCharsets.ISO_8859_1);
    Files.write(log, text);
    assertEquals(
        List.of(plain(1, "stdout", "caf\ufffd"), plain(2, "stdout", "next")), read().entries());
  }

  /** Killed while it wrote: at any byte. */
  @Test
  void aFileThatEndsAnywhereGivesAllThatIsWholeInIt() throws IOException {
    String first = head(1, "stdout] hello ☃\n");
    String second = head(2, "logging INFO app] second\n");
    byte[] all = (first + second).getBytes(StandardCharsets.UTF_8);
    int firstBytes = first.getBytes(StandardCharsets.UTF_8).length;
    for (int length = 0; length <= all.length; length++) {
      Files.write(log, Arrays.copyOf(all, length));
      List<LogEntry> found = read().entries();
      if (length >= firstBytes) {
        assertEquals(plain(1, "stdout", "hello ☃"), found.get(0));
      }
      if (length >= all.length - 1) {
        assertEquals(logged(2, "INFO", "app", "second"), found.get(1));
      }
      for (LogEntry entry : found) {
        assertEquals(TIME, entry.time());
      }
    }
  }

  @Test
  void theFramesSayWhenMainWasCalledAndHowItEnded() throws IOException {
    Files.writeString(frames, STARTED.formatted(ID, AT) + RETURNED.formatted(ID, "[1.10]"));
    ExecutorOutputs.Found found = read();
    assertEquals(TIME, found.entered());
    assertEquals(ExecutionState.SUCCEEDED, found.outcome().state());
    assertEquals("[1.10]", found.outcome().returnValue());
    assertEquals(List.of(), found.entries());
  }

  @Test
  void theFramesOfOneExecutionAmongSeveralAreFound() throws IOException {
    Files.writeString(
        frames,
        "roost sidecar: a remark of its own\n"
            + STARTED.formatted(OTHER, "2026-11-21T18:00:00.000000Z")
            + RETURNED.formatted(OTHER, "\\\"" + ID + "\\\"")
            + STARTED.formatted(ID, AT)
            + "{\"execution_id\": \""
            + ID
            + "\", \"frame\": {\"seq\": 2, \"type\": \"failed\", \"state\": \"timed_out\", \"reason\": \"deadline_exceeded\", \"message\": \"late\", \"time\": \""
            + AT
            + "\"}}\n");
    ExecutorOutputs.Found found = read();
    assertEquals(TIME, found.entered());
    assertEquals(ExecutionState.TIMED_OUT, found.outcome().state());
    assertEquals(ExecutionReason.DEADLINE_EXCEEDED, found.outcome().reason());
  }

  @Test
  void aLastFrameThatWasCutOffIsNone() throws IOException {
    String whole = STARTED.formatted(ID, AT) + RETURNED.formatted(ID, "1");
    // Without its newline it is whole.
    for (int length = STARTED.formatted(ID, AT).length(); length < whole.length() - 1; length++) {
      Files.writeString(frames, whole.substring(0, length));
      ExecutorOutputs.Found found = read();
      assertEquals(TIME, found.entered());
      assertNull(found.outcome());
    }
    Files.writeString(frames, whole.stripTrailing());
    assertEquals(ExecutionState.SUCCEEDED, read().outcome().state());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"execution_id\": \"" + ID + "\"}",
        "{\"execution_id\": \"" + ID + "\", \"frame\": null}",
        "{\"execution_id\": \"" + ID + "\", \"frame\": {\"seq\": 1, \"type\": \"new\"}}",
        "\"" + ID + "\"",
        "[\"execution_id\", \"" + ID + "\"]",
        ID
      })
  void aForgedFrameIsPassedOver(String line) throws IOException {
    Files.writeString(frames, line + "\n" + STARTED.formatted(ID, AT));
    ExecutorOutputs.Found found = read();
    assertEquals(TIME, found.entered());
    assertNull(found.outcome());
  }

  @Test
  void aMissingFileIsAnEmptyOne() throws IOException {
    Files.writeString(frames, RETURNED.formatted(ID, "1"));
    Files.writeString(log, head(1, "stdout] a\n"));
    Files.delete(log);
    assertEquals(List.of(), read().entries());
    assertEquals(ExecutionState.SUCCEEDED, read().outcome().state());
    Files.delete(frames);
    assertEquals(new ExecutorOutputs.Found(List.of(), null, null), read());
  }

  @Test
  void whateverTheRunnerWritesIsReadBack() throws IOException {
    Random random = new Random(20261121);
    String alphabet = "ab []+/\r\t\u0085\u2028ü☃";
    List<LogEntry> written = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    for (int seq = 1; seq <= 2_000; seq++) {
      String stream = List.of("stdout", "stderr", "logging", "system").get(random.nextInt(4));
      boolean isLogging = stream.equals("logging");
      StringBuilder message = new StringBuilder();
      for (int i = random.nextInt(20); i > 0; i--) {
        message.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      LogEntry entry =
          new LogEntry(
              seq,
              TIME,
              stream,
              isLogging ? "INFO" : null,
              isLogging ? "my app" : null,
              message.toString(),
              random.nextInt(10) == 0);
      written.add(entry);
      text.append(readable(entry)).append('\n');
    }
    assertEquals(written, entries(text.toString()));
  }

  /** As {@code readable} in the executor's log.py. */
  private static String readable(LogEntry entry) {
    String more = entry.continued() ? "+" : "";
    String origin =
        entry.stream().equals("logging") ? " " + entry.level() + " " + entry.logger() : "";
    return "[%s %s/%d %s%s%s] %s"
        .formatted(AT, ID, entry.seq(), entry.stream(), more, origin, entry.message());
  }

  /** Scripts may reach the output of their runner. */
  @Test
  void noMoreThanTheLimitIsRead() throws IOException {
    limits = new FrameLimits(1 << 24, 100, 1_000, 50);
    StringBuilder text = new StringBuilder();
    for (int seq = 1; seq <= 100; seq++) {
      text.append("[%s %s/%d stdout] %s\n".formatted(AT, ID, seq, "x".repeat(99)));
    }
    assertEquals(11, entries(text.toString()).size(), "up to the first one that is too much");
    StringBuilder empty = new StringBuilder();
    for (int seq = 1; seq <= 100; seq++) {
      empty.append("[%s %s/%d stdout] \n".formatted(AT, ID, seq));
    }
    assertEquals(51, entries(empty.toString()).size());
    String line = "[%s %s/1 stdout] ".formatted(AT, ID);
    String longest = line + "x".repeat(3_000_000) + "\n";
    assertEquals((1 << 20) + 100 - line.length(), entries(longest).get(0).message().length());
  }
}
