package dev.roost.issue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.HostileTexts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MessagePatternTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "no price | no price",
        "-1 is negative | # is negative",
        "took 3.5e-7 s, limit 10 s | took # s, limit # s",
        "at 0x7f3a9c0d1e50 | at #",
        "object deadbeefcafe is gone | object # is gone",
        "order-123 not found | # not found",
        "exec_01jd0y8m3kq6t4v9w2x5z7a1bc failed | # failed",
        "6f1c2a34-0b5d-4e6f-8a9b-0c1d2e3f4a5b is unknown | # is unknown",
        "2026-11-24T14:52:04Z is past | # is past",
        "connection to 10.0.0.7:5432 refused | connection to # refused",
        "mail to ada@example.com bounced | mail to # bounced",
        "no such file: /tmp/a/b.txt | no such file: #",
        "no such file: C:\\data\\b | no such file: #",
        "404 for https://example.com/x?y=1 | # for #",
        "'price' | #",
        "\"price\" is missing | # is missing",
        "can't parse 'a, b' | can't parse #",
        "it's the users' data | it's the users' data",
        "expected one of [1, 2, 3] | expected one of [#]",
        "bad items 'a', 'b' and 'c' | bad items # and #",
        "too   many\tblanks | too many blanks",
        "limit is 5. | limit is #.",
        "größer als ٣ | größer als #",
        "Unerwartet: Fehler | Unerwartet: Fehler",
      })
  void whatDiffersFromFailureToFailureIsLeftOut(String message, String pattern) {
    assertEquals(pattern, MessagePattern.of(message, false));
  }

  @Test
  void quotedTextsStayWhereTheyAreTheCause() {
    assertEquals(
        "No module named 'requests'", MessagePattern.of("No module named 'requests'", true));
    assertEquals("'#' (line #)", MessagePattern.of("'a1' (line 7)", true));
  }

  @Test
  void anUnknownMessageHasAnEmptyPattern() {
    assertEquals("", MessagePattern.of(null, false));
    assertEquals("", MessagePattern.of(" \n\t\0 ", false));
  }

  @Test
  void onlyTheBeginningOfALongMessageCounts() {
    String beginning = "bad value ".repeat(100);
    assertEquals(
        MessagePattern.of(beginning + "one", false), MessagePattern.of(beginning + "two", false));
  }

  @Test
  void hostileMessagesAreReadAtOnce() {
    HostileTexts.check(
        message -> assertTrue(MessagePattern.of(message, false).length() <= 1_000),
        "KeyError: 'price'",
        "can't open \"/tmp/x\" at 0x7f");
  }
}
