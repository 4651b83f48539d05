package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTextTest {
  private final long seed = System.nanoTime();
  private final RandomJson random = new RandomJson(seed);

  @Test
  void anyValueKeepsItsText() {
    for (int i = 0; i < 5_000; i++) {
      String value = random.value();
      assertEquals(value.strip(), parse(value).text(), "seed " + seed);
      assertTrue(JsonText.isValid(value), () -> "seed " + seed + ": " + value);
    }
  }

  @Test
  void whatIsWrongIsReportedWithoutAWordOfTheParser() {
    Problem problem = assertThrows(Problem.class, () -> parse("[1, NaN]"));
    assertEquals(
        "Non-standard token 'NaN' is not valid JSON (line 1, column 8)", problem.getMessage());
  }

  @Test
  void theMembersOfAnyObjectKeepTheirText() throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    for (int i = 0; i < 2_000; i++) {
      Map<String, String> expected = new LinkedHashMap<>();
      StringBuilder text = new StringBuilder(random.space() + "{");
      // Some are longer than the parser's buffer.
      int size = i % 200 == 0 ? 3_000 : random.below(6);
      for (int member = 0; member < size; member++) {
        String name = random.name();
        String value = random.value();
        expected.put(mapper.readValue(name, String.class), value.strip());
        text.append(member > 0 ? "," : "").append(random.space()).append(name);
        text.append(random.space()).append(':').append(value);
      }
      text.append(random.space()).append('}').append(random.space());
      Map<String, String> actual = new LinkedHashMap<>();
      JsonText.members(utf8(text.toString()))
          .forEach((name, json) -> actual.put(name, json.text()));
      assertEquals(
          new ArrayList<>(expected.entrySet()), new ArrayList<>(actual.entrySet()), "seed " + seed);
    }
  }

  @Test
  void anAnswerHoldsTheTextAsItIs() throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    assertEquals(
        "{\"a\":{\"b\" : 1.10},\"c\":null}",
        mapper.writeValueAsString(
            new Holder(new JsonText("{\"b\" : 1.10}"), JsonText.ofNullable(null))));
  }

  record Holder(JsonText a, JsonText c) {}

  @Test
  void whatIsNoJsonIsRefused() {
    List<String> wrong =
        List.of(
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "NaN",
            "Infinity",
            "-",
            "01",
            "1.",
            ".5",
            "+1",
            "'a'",
            "\"\n\"",
            "\"\0\"",
            "\"\\x\"",
            "tru",
            "1 2",
            "{} []",
            "// x\n1",
            "\u00a01",
            "{a:1}",
            "\"\\ud8\"");
    for (String text : wrong) {
      assertEquals(ErrorCode.MALFORMED_JSON, refused(text).code(), text);
      assertFalse(JsonText.isValid(text), text);
    }
    assertEquals(
        ErrorCode.MALFORMED_JSON,
        assertThrows(Problem.class, () -> JsonText.parse(new byte[] {'"', (byte) 0xff, '"'}))
            .code());
  }

  @Test
  void theDetailSaysWhere() {
    assertTrue(refused("{\n  \"a\": x}").getMessage().contains("line 2, column"));
  }

  @Test
  void aKeyThatComesTwiceIsRefused() {
    refused("{\"a\":1,\"a\":1}");
    refused("{\"a\":1,\"\\u0061\":2}");
    refused("[{\"b\":{\"a\":1,\"a\":2}}]");
    assertThrows(Problem.class, () -> JsonText.members(utf8("{\"a\":1,\"a\":2}")));
    assertThrows(Problem.class, () -> JsonText.members(utf8("{\"b\":{\"a\":1,\"a\":2}}")));
    parse("[{\"a\":1},{\"a\":1}]");
    assertTrue(JsonText.isValid("{\"a\":1,\"a\":1}"), "a script's own value may");
  }

  @Test
  void depthIsBounded() {
    int most = JsonText.MAX_DEPTH;
    String deep = "[".repeat(most) + "]".repeat(most);
    assertEquals(deep, parse(deep).text());
    refused("[" + deep + "]");
    refused("[".repeat(1_000_000));
    assertFalse(JsonText.isValid("[" + deep + "]"));
  }

  @Test
  void numbersAndStringsMayBeLong() {
    for (String value :
        List.of(
            "9".repeat(200_000),
            "1e" + "9".repeat(5_000),
            "0." + "1".repeat(100_000),
            "\"" + "x".repeat(3_000_000) + "\"",
            "{\"" + "k".repeat(100_000) + "\":1}")) {
      assertEquals(value, parse(value).text());
      assertEquals(
          value,
          JsonText.members(utf8("{\"a\":" + value + ",\"b\":" + value + "}")).get("b").text());
    }
  }

  @Test
  void onlyAnObjectHasMembers() {
    assertEquals(Map.of(), JsonText.members(utf8(" \n")));
    for (String text : List.of("[]", "1", "null", "{} 1", "{", "{\"a\"")) {
      assertThrows(Problem.class, () -> JsonText.members(utf8(text)), text);
    }
  }

  private static JsonText parse(String text) {
    return JsonText.parse(utf8(text));
  }

  private static Problem refused(String text) {
    return assertThrows(
        Problem.class, () -> parse(text), text.length() > 100 ? "a long one" : text);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
