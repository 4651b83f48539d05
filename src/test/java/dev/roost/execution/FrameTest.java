package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.HostileTexts;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.log.LogEntry;
import dev.roost.state.ExecutionState;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FrameTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Instant TIME = Instant.parse("2026-11-21T18:12:41.123456Z");
  private static final String AT = "\"time\": \"2026-11-21T18:12:41.123456Z\"";
  private static final String REST =
      AT
          + ", \"logs_truncated\": true, \"usage\": {\"cpu_seconds\": 0.012, \"max_memory_bytes\": 9437184}";

  private static Frame parse(String line) {
    return Frame.parse(MAPPER, line);
  }

  private static Outcome end(String line) {
    return assertInstanceOf(Frame.End.class, parse(line)).outcome();
  }

  private static Outcome returned(String value) {
    ObjectNode frame = MAPPER.createObjectNode();
    frame.put("seq", 1).put("type", "returned").put("time", TIME.toString()).put("value", value);
    return end(frame.toString());
  }

  private static LogEntry entry(String fields) {
    Frame frame =
        parse("{\"seq\": 1, \"type\": \"log\", \"entries\": [{\"seq\": 1, " + fields + "}]}");
    return assertInstanceOf(Frame.Log.class, frame).entries().get(0);
  }

  @Test
  void startedSaysWhenMainWasCalled() {
    assertEquals(
        new Frame.Started(7, TIME, null), parse("{\"seq\": 7, \"type\": \"started\", " + AT + "}"));
  }

  @Test
  void logHasEntriesInOrder() {
    String line =
        """
        {"seq": 2, "type": "log", "entries": [
          {"seq": 5, "time": "2026-11-21T18:12:41.123456Z", "stream": "stdout", "level": null,
           "logger": null, "message": "☃ 🚀 \\t]", "continued": true},
          {"seq": 6, "time": "2026-11-21T18:12:41.123456Z", "stream": "logging", "level": "INFO",
           "logger": "my app", "message": "", "continued": false}]}""";
    assertEquals(
        new Frame.Log(
            2,
            List.of(
                new LogEntry(5, TIME, "stdout", null, null, "☃ 🚀 \t]", true),
                new LogEntry(6, TIME, "logging", "INFO", "my app", "", false))),
        parse(line));
  }

  @Test
  void returnedIsASuccessWithItsValue() {
    assertEquals(
        new Frame.End(
            3,
            new Outcome(
                ExecutionState.SUCCEEDED,
                null,
                null,
                null,
                "{\"n\": 1.10}",
                true,
                0.012,
                9437184L,
                TIME)),
        parse(
            "{\"seq\": 3, \"type\": \"returned\", \"value\": \"{\\\"n\\\": 1.10}\", "
                + REST
                + "}"));
  }

  @Test
  void failedHasReasonMessageAndError() {
    assertEquals(
        new Frame.End(
            4,
            new Outcome(
                ExecutionState.FAILED,
                ExecutionReason.EXCEPTION,
                "ValueError: no",
                "{\"type\":\"ValueError\",\"line\":3}",
                null,
                true,
                0.012,
                9437184L,
                TIME)),
        parse(
            "{\"seq\": 4, \"type\": \"failed\", \"state\": \"failed\", \"reason\": \"exception\","
                + " \"message\": \"ValueError: no\", \"error\": {\"type\": \"ValueError\", \"line\": 3}, "
                + REST
                + "}"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"failed", "timed_out", "cancelled", "lost"})
  void failedMayEndInEachOfTheseStates(String state) {
    assertEquals(state, end(failed(state, "cancelled", "null")).state().code());
  }

  @ParameterizedTest
  @EnumSource(ExecutionReason.class)
  void everyReasonIsUnderstood(ExecutionReason reason) {
    assertEquals(reason, end(failed("failed", reason.code(), "null")).reason());
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "\"text\"", "[1]", "3", "true"})
  void anErrorThatIsNoObjectIsNone(String error) {
    assertNull(end(failed("failed", "exception", error)).error());
  }

  @Test
  void usageMayBeMissing() {
    Outcome outcome = end("{\"seq\": 1, \"type\": \"returned\", \"value\": \"1\", " + AT + "}");
    assertNull(outcome.cpuSeconds());
    assertNull(outcome.maxMemoryBytes());
    assertEquals(ExecutionState.SUCCEEDED, outcome.state());
  }

  @Test
  void unknownFieldsAreForALaterVersion() {
    assertEquals(
        new Frame.Started(1, TIME, null),
        parse("{\"seq\": 1, \"type\": \"started\", \"new\": [{}], " + AT + "}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "true",
        "-0.0",
        "1e400",
        "123456789012345678901234567890",
        "\"\\ud800\"",
        "\"\\u0000\"",
        "{\"b\": 1, \"a\": 2, \"b\": 3}",
        " [1,\n 2] "
      })
  void aValueIsKeptToTheLetter(String value) {
    Outcome outcome = returned(value);
    assertEquals(ExecutionState.SUCCEEDED, outcome.state());
    assertEquals(value, outcome.returnValue());
  }

  /** A script may have found the descriptor on which its return value goes. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "1 2",
        "NaN",
        "Infinity",
        "'a'",
        "{a: 1}",
        "[1,]",
        "// comment\n1",
        "\"\0\"",
        "\"\n\"",
        "nul",
        "\"open"
      })
  void aValueThatIsNoJsonFailsTheExecution(String value) {
    assertNotJson(returned(value));
  }

  @Test
  void aValueThatNoDatabaseCanHoldFailsTheExecution() {
    assertNotJson(returned("\"\ud800\""));
    assertNotJson(returned("\"\udc00\ud800\""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "null", "{\"a\": 1}", "[]", "true"})
  void aValueThatIsNoStringFailsTheExecution(String value) {
    assertNotJson(
        end("{\"seq\": 1, \"type\": \"returned\", \"value\": " + value + ", " + AT + "}"));
  }

  @Test
  void aFrameWithoutAValueFailsTheExecution() {
    assertNotJson(end("{\"seq\": 1, \"type\": \"returned\", " + AT + "}"));
  }

  private static void assertNotJson(Outcome outcome) {
    assertEquals(ExecutionState.FAILED, outcome.state());
    assertEquals(ExecutionReason.NOT_JSON, outcome.reason());
    assertNull(outcome.returnValue());
    assertTrue(outcome.message().contains("not valid JSON"), outcome.message());
  }

  @ParameterizedTest
  @CsvSource({
    "a\\u0000b,             a\ufffdb",
    "a\\ud800b,             a\ufffdb",
    "a\\udc00b,             a\ufffdb",
    "\\udc00\\ud83d,        \ufffd\ufffd",
    "\\ud83d\\ude80,        \ud83d\ude80",
    "\\ud83d\\ud83d\\ude80, \ufffd\ud83d\ude80"
  })
  void whatNoDatabaseCanHoldIsReplaced(String escaped, String stored) {
    LogEntry entry =
        entry(
            "%s, \"stream\": \"logging\", \"level\": \"%2$s\", \"logger\": \"%2$s\", \"message\": \"%2$s\""
                .formatted(AT, escaped));
    assertEquals(
        List.of(stored, stored, stored), List.of(entry.level(), entry.logger(), entry.message()));
    String error = "{\"type\": \"E\", \"message\": \"" + escaped + "\"}";
    Outcome outcome = end(failed("failed", "exception", error).replace("MESSAGE", escaped));
    assertEquals(stored, outcome.message());
    assertEquals(Optional.empty(), Text.unstorable(outcome.error()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "   ",
        "null",
        "7",
        "\"started\"",
        "[]",
        "{}",
        "{",
        "{\"seq\": 1, \"type\": \"started\", \"time\": \"2026-11-21T18:12:41.1",
        "{\"type\": \"started\", \"time\": \"2026-11-21T18:12:41Z\"}",
        "{\"seq\": 0, \"type\": \"started\", \"time\": \"2026-11-21T18:12:41Z\"}",
        "{\"seq\": -1, \"type\": \"started\", \"time\": \"2026-11-21T18:12:41Z\"}",
        "{\"seq\": 1.5, \"type\": \"started\", \"time\": \"2026-11-21T18:12:41Z\"}",
        "{\"seq\": \"1\", \"type\": \"started\", \"time\": \"2026-11-21T18:12:41Z\"}",
        "{\"seq\": 4294967297, \"type\": \"started\", \"time\": \"2026-11-21T18:12:41Z\"}",
        "{\"seq\": 1, \"time\": \"2026-11-21T18:12:41Z\"}",
        "{\"seq\": 1, \"type\": \"Started\", \"time\": \"2026-11-21T18:12:41Z\"}",
        "{\"seq\": 1, \"type\": null, \"time\": \"2026-11-21T18:12:41Z\"}",
        "{\"seq\": 1, \"type\": \"started\"}",
        "{\"seq\": 1, \"type\": \"started\", \"time\": null}",
        "{\"seq\": 1, \"type\": \"started\", \"time\": 1763748761}",
        "{\"seq\": 1, \"type\": \"started\", \"time\": \"yesterday\"}",
        "{\"seq\": 1, \"type\": \"started\", \"time\": \"2026-13-21T18:12:41Z\"}",
        "{\"seq\": 1, \"type\": \"started\", \"time\": \"+31690708-07-05T01:46:40Z\"}",
        "{\"seq\": 1, \"type\": \"started\", \"time\": \"-4714-01-01T00:00:00Z\"}",
        "{\"seq\": 1, \"type\": \"started\", \"time\": \"2026-11-21T18:12:41Z\"} and more",
        "{\"seq\": 1, \"type\": \"returned\", \"value\": \"1\"}"
      })
  void aMalformedFrameIsRefused(String line) {
    assertRefused(line);
  }

  @Test
  void aFrameOfAThousandLevelsIsRefused() {
    assertRefused("{\"seq\": 1, \"type\": \"started\", \"x\": " + "[".repeat(100_000));
  }

  @ParameterizedTest
  @ValueSource(strings = {"succeeded", "running", "FAILED", ""})
  void anUnknownStateIsRefused(String state) {
    assertRefused(failed(state, "exception", "null"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"bad_luck", "EXCEPTION", ""})
  void anUnknownReasonIsRefused(String reason) {
    assertRefused(failed("failed", reason, "null"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"seq\": 1, \"time\": \"2026-11-21T18:12:41Z\", \"stream\": \"stdin\", \"message\": \"\"}",
        "{\"seq\": 1, \"time\": \"2026-11-21T18:12:41Z\", \"message\": \"\"}",
        "{\"seq\": 1, \"stream\": \"stdout\", \"message\": \"\"}",
        "{\"seq\": 1, \"time\": \"68-09-03T13:20:00Z\", \"stream\": \"stdout\", \"message\": \"\"}",
        "7",
        "null"
      })
  void aLogEntryOfAnUnknownStreamOrWithoutATimeIsRefused(String entry) {
    assertRefused("{\"seq\": 1, \"type\": \"log\", \"entries\": [" + entry + "]}");
  }

  private static String failed(String state, String reason, String error) {
    return "{\"seq\": 1, \"type\": \"failed\", \"state\": \"%s\", \"reason\": \"%s\", \"message\": \"MESSAGE\", \"error\": %s, %s}"
        .formatted(state, reason, error, REST);
  }

  private static void assertRefused(String line) {
    Problem problem = assertThrows(Problem.class, () -> parse(line));
    assertEquals(ErrorCode.MALFORMED_JSON, problem.code());
    assertTrue(problem.getMessage().startsWith("Not a frame: "), problem.getMessage());
  }

  @Test
  void everyTextHasAnAnswerSoon() {
    HostileTexts.check(
        text -> Frame.parseLines(MAPPER, text.getBytes(StandardCharsets.UTF_8)),
        "{\"type\": \"returned\", \"seq\": 1, \"value\": \"{}\", " + REST + "}\n",
        "{\"type\": \"log\", \"seq\": 2, \"stream\": \"stdout\", \"message\": \"x\", "
            + AT
            + "}\n");
  }
}
