package dev.roost.issue;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.HostileTexts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailureTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Instant NOW = Instant.parse("2026-11-24T14:52:04Z");

  private static Failure failure(
      String agent, int revision, String reason, String message, String error) {
    return Failure.of("exec_1", "xjob_1", agent, revision, reason, message, error, NOW, NOW);
  }

  private static Failure raised(String type, String message, String function, int line) {
    ObjectNode error =
        MAPPER
            .createObjectNode()
            .put("type", type)
            .put("message", message)
            .put(
                "traceback",
                "Traceback (most recent call last):\n  File \"agent.py\", line %d, in %s\n    x()\n%s: %s"
                    .formatted(line, function, type, message))
            .put("line", line);
    return failure("agent_1", 1, "exception", type + ": " + message, error.toString());
  }

  private static boolean areOne(Failure first, Failure second) {
    return Arrays.equals(first.fingerprint(), second.fingerprint());
  }

  /** What the executor's own tests say that a script leaves behind. */
  private static Failure contract(String script) throws IOException {
    Path expected = Path.of("src/test/resources/contract", script, "expected.json");
    JsonNode end = MAPPER.readTree(Files.readString(expected));
    JsonNode error = end.get("error");
    return failure(
        "agent_1",
        1,
        end.get("reason").textValue(),
        end.get("message").textValue(),
        error.isNull() ? null : error.toString());
  }

  @Test
  void theLineDoesNotCountButTheFunctionDoes() {
    Failure failure = raised("KeyError", "'price'", "total", 7);
    assertTrue(areOne(failure, raised("KeyError", "'name'", "total", 12)));
    assertFalse(areOne(failure, raised("KeyError", "'price'", "load", 7)));
    assertFalse(areOne(failure, raised("IndexError", "'price'", "total", 7)));
  }

  @Test
  void agentAndReasonCountAndTheRevisionDoesNot() {
    Failure failure = failure("agent_1", 1, "deadline_exceeded", "It took 5 s.", null);
    assertTrue(areOne(failure, failure("agent_1", 2, "deadline_exceeded", "It took 60 s.", null)));
    assertFalse(areOne(failure, failure("agent_2", 1, "deadline_exceeded", "It took 5 s.", null)));
    assertFalse(areOne(failure, failure("agent_1", 1, "out_of_memory", "It took 5 s.", null)));
  }

  @Test
  void missingModulesAreDifferentCauses() {
    assertFalse(
        areOne(
            failure("a", 1, "import_error", "No module named 'requests'", null),
            failure("a", 1, "import_error", "No module named 'pandas'", null)));
  }

  @Test
  void theInnermostFrameOfTheScriptIsFoundInRealTracebacks() throws IOException {
    Failure exception = contract("exception");
    assertEquals("ValueError", exception.exceptionType());
    assertEquals("check", exception.function());
    assertEquals(3, exception.line());
    assertEquals("ValueError: -1 is negative", exception.title());

    Failure chained = contract("exception_with_a_cause");
    assertEquals("main", chained.function());
    assertEquals(9, chained.line());

    Failure imported = contract("import_error_deep_inside");
    assertEquals("load", imported.function());

    Failure syntax = contract("syntax_error");
    assertNull(syntax.function());
    assertEquals(2, syntax.line());
    assertEquals("SyntaxError: invalid syntax", syntax.title());
  }

  @Test
  void everyFailureOfTheContractHasOneLineAsItsTitle() throws IOException {
    for (String script :
        List.of(
            "timeout", "no_main", "bad_signature", "nan", "exit_with_a_status", "missing_module")) {
      Failure failure = contract(script);
      assertFalse(failure.title().isBlank(), script);
      assertFalse(failure.title().contains("\n"), script);
      assertArrayEquals(failure.fingerprint(), contract(script).fingerprint());
    }
    assertNull(contract("no_main").exceptionType());
  }

  @Test
  void textsThatTheDatabaseCannotStoreAreReplaced() {
    Failure failure = raised("Odd\0Error", "a\0b\ud800", "f", 1);
    assertEquals("Odd\ufffdError: a\ufffdb\ufffd", failure.title());
    assertEquals("Odd\ufffdError", failure.exceptionType());
  }

  @Test
  void anythingIsAccepted() {
    for (String error :
        new String[] {null, "", "{", "[]", "3", "{\"line\": 1e99}", "{\"type\": 7}"}) {
      Failure failure = failure("agent_1", 1, "exception", null, error);
      assertEquals(32, failure.fingerprint().length);
      assertEquals("exception", failure.title());
    }
    HostileTexts.check(
        text -> raised("E", text, text, 3).title(), "File \"agent.py\", line 3, in main");
  }
}
