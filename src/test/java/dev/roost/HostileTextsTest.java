package dev.roost;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.roost.agent.EnvVars;
import dev.roost.agent.Requirements;
import dev.roost.api.Body;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.schedule.Cron;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What makes a backtracking or quadratic parser work for minutes costs these none. The limit is a
 * hundred times what they take, and a thousandth of what such a parser would.
 */
class HostileTextsTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int LENGTH = 64 << 10;

  /** Parts that are repeated, with an end that makes the whole fail as late as can be. */
  private static final List<String> PARTS =
      List.of(
          " ",
          "\t ",
          "\n",
          "\u2028",
          "\u0085",
          "\0",
          "a",
          "a ",
          "a,",
          "a==1,",
          "a;",
          "==",
          "-r ",
          "(",
          "[",
          "{\"a\":",
          "[\"",
          "\\",
          "\\u",
          "'",
          "\"",
          "'\"",
          "*",
          "*/",
          "1-",
          "1,",
          "@",
          "#",
          "=",
          "A=",
          "A=\"",
          "a and ",
          "a=='b' or ",
          "a[b",
          "a[b,",
          "~=",
          "é",
          "\ud83d\udc14");

  private static final List<String> ENDS = List.of("", "\u2028", "x", "'", "}", ")");

  /** Reads a text, or refuses it by an exception. */
  interface Parser {
    void parse(String text) throws Exception;
  }

  private static final Map<String, Parser> PARSERS =
      Map.of(
          "requirements", Requirements::parse,
          "a marker", text -> Requirements.parse("a==1; python_version < '3'" + text),
          "variables", EnvVars::parse,
          "a cron expression", Cron::parse,
          "JSON", text -> JsonText.parse(text.getBytes(StandardCharsets.UTF_8)),
          "a body", text -> Body.parse(text.getBytes(StandardCharsets.UTF_8)).check(),
          "a line", text -> Body.parseLine(text.getBytes(StandardCharsets.UTF_8)));

  static Stream<Arguments> parsers() {
    return PARSERS.entrySet().stream().map(entry -> Arguments.of(entry.getKey(), entry.getValue()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("parsers")
  void everyTextHasAnAnswerSoon(String name, Parser parser) {
    for (String part : PARTS) {
      for (String end : ENDS) {
        String text = part.repeat(LENGTH / part.length()) + end;
        assertTimeoutPreemptively(
            LIMIT,
            () -> tryToParse(parser, text),
            () -> name + ": " + part.codePoints().boxed().toList());
      }
    }
  }

  private static void tryToParse(Parser parser, String text) throws Exception {
    try {
      parser.parse(text);
    } catch (Problem | IllegalArgumentException e) {
      // Refused: an answer, too.
    } catch (Exception e) {
      if (!e.getClass().getPackageName().startsWith("dev.roost")) {
        throw e;
      }
    }
  }
}
