package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LinesTest {
  @Test
  void linesEndAtLineFeedsAlone() throws Exception {
    assertEquals(List.of(), read("", 9));
    assertEquals(List.of(""), read("\n", 9));
    assertEquals(List.of("a", "", "b"), read("a\n\nb", 9));
    assertEquals(List.of("a\r", "b\rc"), read("a\r\nb\rc\n", 9));
  }

  @Test
  void aLineMayBeLongerThanABuffer() throws Exception {
    String line = "x".repeat(200_000);
    assertEquals(List.of("a", line, "b"), read("a\n" + line + "\nb\n", 200_000));
  }

  @Test
  void aLineOverTheLimitIsRefusedByItsNumber() {
    Lines lines = lines("123\n1234\n", 3);
    assertThrows(Lines.TooLong.class, () -> all(lines));
    assertEquals(2, lines.number());
  }

  private static List<String> read(String text, int limit) throws Exception {
    return all(lines(text, limit));
  }

  private static Lines lines(String text, int limit) {
    return new Lines(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), limit);
  }

  private static List<String> all(Lines lines) throws IOException, Lines.TooLong {
    List<String> all = new ArrayList<>();
    for (byte[] line = lines.next(); line != null; line = lines.next()) {
      all.add(new String(line, StandardCharsets.UTF_8));
      assertEquals(all.size(), lines.number());
    }
    return all;
  }
}
