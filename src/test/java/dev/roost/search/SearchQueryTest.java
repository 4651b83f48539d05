package dev.roost.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.api.Problem;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Words, phrases and what they match. */
class SearchQueryTest {
  /** The text with brackets around its marks; the text alone if it doesn't match. */
  private static String marked(String query, String text) {
    StringBuilder marked = new StringBuilder();
    int at = 0;
    for (SearchQuery.Mark mark : SearchQuery.parse(query).marks(text)) {
      marked.append(text, at, mark.start()).append('[');
      marked.append(text, mark.start(), mark.end()).append(']');
      at = mark.end();
    }
    return marked.append(text.substring(at)).toString();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "reset connection | Connection was reset | [Connection] was [reset]",
        "\"connection reset\" | Connection: reset by peer | [Connection: reset] by peer",
        "\"connection reset\" | connection was reset | connection was reset",
        "conn* refused | connection refused | [conn]ection [refused]",
        "conn refused | connection refused | connection refused",
        "refused conn | connection refused | [conn]ection [refused]",
        "\"connection ref*\" | connection refused | [connection ref]used",
        "item | order_item_id=42 | order_[item]_id=42",
        "order_item_id | order item id | order item id",
        "order_item_id | order_item_id=42 | [order_item_id]=42",
        "order_id=4 | order_id=42 | order_id=42",
        "/var/log/app.log | open /var/log/app.log failed | open [/var/log/app.log] failed",
        "https://example.org/a?b=1 | GET https://example.org/a?b=1 200 | GET [https://example.org/a?b=1] 200",
        "E1234: | failed: E1234: no disk | failed: [E1234:] no disk",
        "4 | 42 4 | 42 [4]",
        "ÉCLAIR | un éclair | un [éclair]",
        "größe | GRÖßE 3 | [GRÖßE] 3",
      })
  void findsWordsAndPhrases(String query, String text, String expected) {
    assertEquals(expected, marked(query, text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  ", "\"", "a \"b", "--- !", "ab*", "\"x y*\""})
  void saysWhatIsWrong(String query) {
    assertThrows(Problem.class, () -> SearchQuery.parse(query));
  }

  @Test
  void limitsTheNumberOfWords() {
    String many = "a ".repeat(17);
    assertThrows(Problem.class, () -> SearchQuery.parse(many));
    assertThrows(Problem.class, () -> SearchQuery.parse("x".repeat(201)));
  }

  @Test
  void conditionsAreQuoted() {
    assertEquals("'don' & 't' & 'exit':*", SearchQuery.parse("don't exit").condition());
    assertEquals("'@l:it''s\\\\'", SearchQuery.quoted("@l:it's\\"));
  }

  @Test
  void theDatabaseLeavesOutNoMatch() {
    assertEquals(
        List.of("%order\\_id=5\\%%", "%x%"),
        Arrays.asList(SearchQuery.parse("order_id=5% é x").patterns()));
    // The Kelvin sign becomes no ASCII letter, as in the database.
    assertEquals("K", Words.fold("\u212A").replace('\u212A', 'K'));
  }

  @Test
  void wordsAreIndexedByTheirBeginning() {
    assertEquals(64, Words.indexed("x".repeat(70)).length());
    String emoji = "x".repeat(63) + "𝒳".repeat(3);
    assertEquals(63, Words.indexed(emoji).length());
    assertTrue(
        SearchQuery.parse("y".repeat(80)).marks("y".repeat(79)).isEmpty(), "compared in full");
  }

  @Test
  void jsonIsReadWithoutItsEscapes() {
    assertEquals("a\nb \"c\" é /", SearchedText.ofJson("a\\nb \\\"c\\\" \\u00e9 \\/"));
    assertEquals("x\\u00", SearchedText.ofJson("x\\u00"));
    assertEquals("x\\", SearchedText.ofJson("x\\"));
    assertEquals("\uFFFD", SearchedText.ofJson("\\u0000"));
  }

  @Test
  void aLongTextIsShownAroundItsFirstMatch() {
    String text = "a ".repeat(5_000) + "needle" + " b".repeat(5_000);
    SearchMatch match =
        SearchMatch.of(
            Kind.LOGS,
            "exec_1",
            null,
            7,
            "stdout",
            null,
            text,
            SearchQuery.parse("needle").marks(text));
    assertTrue(match.truncated());
    assertEquals("/executions/exec_1?line=7", match.path());
    assertEquals(
        "needle",
        match.fragments().stream()
            .filter(SearchMatch.Fragment::match)
            .map(SearchMatch.Fragment::text)
            .collect(Collectors.joining("|")));
    assertEquals(1_000, match.fragments().stream().mapToInt(part -> part.text().length()).sum());
  }
}
