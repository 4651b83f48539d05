package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class IdsTest {
  @Test
  void identifiersSortByCreation() {
    List<String> ids = Stream.generate(() -> Ids.next("agent")).limit(20_000).toList();
    assertEquals(ids.stream().sorted().distinct().toList(), ids);
    for (String id : ids) {
      assertTrue(id.matches("agent_[0-7][0-9a-hjkmnp-tv-z]{25}"), id);
    }
  }

  @Test
  void theDigitsAreCrockfordsBase32() {
    assertEquals("00000000000000000000000000", Ids.base32(0, 0));
    assertEquals("7zzzzzzzzzzzzzzzzzzzzzzzzz", Ids.base32(-1, -1));
    assertEquals("00000000000000000000000010", Ids.base32(0, 32));
    assertEquals("0000000000000g000000000000", Ids.base32(1, 0));
  }
}
