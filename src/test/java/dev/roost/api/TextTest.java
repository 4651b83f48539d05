package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TextTest {
  @Test
  void onlyASlipHasANearest() {
    List<String> fields = List.of("requirements", "script", "store_ids");
    assertEquals(Optional.of("requirements"), Text.nearest("requirement", fields));
    assertEquals(Optional.of("script"), Text.nearest("scirpt", fields));
    assertEquals(Optional.empty(), Text.nearest("timeout", fields));
    assertEquals(Optional.empty(), Text.nearest("x", List.of()));
  }

  @Test
  void aQuoteIsShortAndOnOneLine() {
    assertEquals("\"a\\nb\\0\"", Text.quote("a\nb\0"));
    assertTrue(Text.quote("x".repeat(1000)).length() <= 82);
    assertEquals(
        Optional.empty(), Text.unstorable(Text.quote("x".repeat(78) + "🐔" + "x".repeat(9))));
  }

  @Test
  void theSizeIsThatOfTheBytes() {
    List<String> texts =
        List.of("", "a\0\u007f", "\u0080é\u07ff", "\u0800€\uffff", "🐔\udbff\udfff");
    for (String text : texts) {
      assertEquals(text.getBytes(StandardCharsets.UTF_8).length, Text.sizeBytes(text), text);
    }
    assertEquals(4, Text.sizeBytes("é🐔é", 1, 3));
  }

  @Test
  void aPageSaysWhetherThereIsMore() {
    List<Integer> rows = IntStream.range(0, 4).boxed().toList();
    assertEquals(
        new Page<>(List.of(0, 1, 2), "2"),
        Page.of(rows, 3, Object::toString, Function.<Integer>identity()));
    assertEquals(
        new Page<>(rows, null), Page.of(rows, 4, Object::toString, Function.<Integer>identity()));
    assertEquals(50, Page.limit(null));
  }

  @Test
  void readableNamesAreReadable() {
    assertTrue(ReadableNames.readable().matches("[a-z]+-[a-z]+-[1-9][0-9]{3}"));
  }
}
