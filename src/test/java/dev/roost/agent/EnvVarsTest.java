package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.api.Problem.FieldError;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EnvVarsTest {
  @Test
  void theValueIsEverythingAfterTheFirstEqualsSign() {
    EnvVars parsed =
        EnvVars.parse(
            """
            PLAIN=value
            URL=postgres://user:p=ss@host/db?a=b
            EMPTY=
            SPACES=  two before, two after \s
            DOUBLE="quoted # no comment"
            SINGLE='it''s'
            UNBALANCED="
            _lower_1=ü ☃ 🚀
            """);
    assertEquals(List.of(), parsed.errors());
    Map<String, String> expected = new LinkedHashMap<>();
    expected.put("PLAIN", "value");
    expected.put("URL", "postgres://user:p=ss@host/db?a=b");
    expected.put("EMPTY", "");
    expected.put("SPACES", "  two before, two after  ");
    expected.put("DOUBLE", "\"quoted # no comment\"");
    expected.put("SINGLE", "'it''s'");
    expected.put("UNBALANCED", "\"");
    expected.put("_lower_1", "ü ☃ 🚀");
    assertEquals(expected, parsed.values());
    assertEquals(List.copyOf(expected.keySet()), List.copyOf(parsed.values().keySet()), "in order");
  }

  /** What the SDK reads; the rest is {@code reserved}. */
  @Test
  void aScriptMayBeGivenAKeyOfRoost() {
    EnvVars parsed = EnvVars.parse("ROOST_API_KEY=roost_a_b\nROOST_URL=http://host:8080");
    assertEquals(List.of(), parsed.errors());
    assertEquals(
        Map.of("ROOST_API_KEY", "roost_a_b", "ROOST_URL", "http://host:8080"), parsed.values());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n", "\r\n\r\n", "  \t\n", "# nothing\n#A=b\n"})
  void blankLinesAndCommentsMeanNothing(String text) {
    assertEquals(new EnvVars(Map.of(), List.of()), EnvVars.parse(text));
  }

  @Test
  void windowsLineEndsAreNoPartOfValues() {
    EnvVars parsed = EnvVars.parse("A=1\r\n\r\n# c\r\nB=2\r\nB=3\r\n");
    assertEquals(Map.of("A", "1", "B", "2"), parsed.values());
    assertEquals(List.of(5), parsed.errors().stream().map(FieldError::line).toList());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "just words           | invalid_line | The line has no \"=\". Write KEY=VALUE.",
        "=value               | invalid_line | \"\" is not a valid variable name",
        "1ST=value            | invalid_line | \"1ST\" is not a valid variable name",
        "MY-KEY=value         | invalid_line | use letters, digits and _ only, do not begin with a digit",
        "KEY =value           | invalid_line | no spaces around \"=\"",
        "export KEY=value     | invalid_line | \"export KEY\" is not a valid variable name",
        "SCHLÜSSEL=value      | invalid_line | \"SCHLÜSSEL\" is not a valid variable name",
        "ROOST_=value         | reserved     | names that begin with ROOST_ are reserved",
        "ROOST_TOKEN=value    | reserved     | ROOST_TOKEN: names that begin with ROOST_",
        "TAKEN=value          | duplicate    | TAKEN is set twice. Remove one of the lines."
      })
  void aMistakeNamesItsLineAndWhatToWrite(String line, String code, String detail) {
    EnvVars parsed = EnvVars.parse("TAKEN=1\n\n# comment\n" + line + "\nOTHER=2\n");
    assertEquals(1, parsed.errors().size());
    FieldError error = parsed.errors().get(0);
    assertEquals("/env_vars", error.pointer());
    assertEquals(4, error.line());
    assertEquals(code, error.code());
    assertTrue(error.detail().contains(detail), error.detail());
    assertEquals(Map.of("TAKEN", "1", "OTHER", "2"), parsed.values());
  }

  @ParameterizedTest
  @ValueSource(strings = {"ROOST", "ROOSTER", "roost_token", "MY_ROOST_TOKEN"})
  void onlyThePrefixIsReserved(String key) {
    assertEquals(Map.of(key, "v"), EnvVars.parse(key + "=v").values());
  }

  @Test
  void everyMistakeIsReportedInOrder() {
    EnvVars parsed = EnvVars.parse("nonsense\nA=1\nROOST_B=2\nA=3\n9=4");
    assertEquals(
        List.of("1 invalid_line", "3 reserved", "4 duplicate", "5 invalid_line"),
        parsed.errors().stream().map(error -> error.line() + " " + error.code()).toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a line with no equals sign but s3cret",
        "1BAD=s3cret",
        "BAD KEY=s3cret",
        "=s3cret",
        "ROOST_KEY=s3cret",
        "A=one\nA=s3cret",
        "A=s3cret\nA=two"
      })
  void noMessageShowsAValue(String text) {
    List<FieldError> errors = EnvVars.parse(text).errors();
    assertFalse(errors.isEmpty());
    errors.forEach(error -> assertFalse(error.detail().contains("s3cret"), error.detail()));
  }

  @Test
  void maskingKeepsKeysCommentsAndLines() {
    assertEquals(
        "# a comment\nA=********\n\nB_2=********\r\nC=********",
        EnvVars.masked("# a comment\nA=s3cret\n\nB_2=\"s3cret = s3cret\"\r\nC="));
  }

  @Test
  void maskingCoversValuesInComments() {
    assertEquals(
        "#OLD_KEY=********\n  # export TOKEN =********\r\nA=********\n# why: see below",
        EnvVars.masked(
            "#OLD_KEY=s3cret\n  # export TOKEN = s3cret=\r\nA=s3cret\n# why: see below"));
  }

  /** Java's {@code .} stops at more characters than lines end with. */
  @ParameterizedTest
  @ValueSource(strings = {"\r", "\u0085", "\u2028", "\u2029", "\f", "\u000b"})
  void maskingLeavesNothingOfAValueThatHoldsAnOddLineEnd(String separator) {
    String text = "KEY=left" + separator + "s3cret";
    assertEquals(Map.of("KEY", "left" + separator + "s3cret"), EnvVars.parse(text).values());
    assertEquals("KEY=********", EnvVars.masked(text));
  }

  @Test
  void whateverIsAcceptedIsGivenBackAndMasked() {
    Random random = new Random(20261121);
    String alphabet = "sS3=# \t\"'\\\r\u0085\u2028ü☃";
    for (int round = 0; round < 500; round++) {
      Map<String, String> variables = new LinkedHashMap<>();
      List<String> lines = new ArrayList<>();
      for (int i = random.nextInt(8); i > 0; i--) {
        StringBuilder value = new StringBuilder("<");
        for (int j = random.nextInt(12); j > 0; j--) {
          value.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        value.append('>');
        variables.put("KEY_" + i, value.toString());
        lines.add("KEY_" + i + "=" + value);
        if (random.nextInt(3) == 0) {
          lines.add(random.nextBoolean() ? "" : "# comment");
        }
      }
      String text = String.join(random.nextBoolean() ? "\n" : "\r\n", lines);
      assertEquals(new EnvVars(variables, List.of()), EnvVars.parse(text));
      String masked = EnvVars.masked(text);
      assertFalse(masked.contains("<") || masked.contains(">"), masked);
      assertEquals(variables.keySet(), EnvVars.parse(masked).values().keySet());
    }
  }
}
