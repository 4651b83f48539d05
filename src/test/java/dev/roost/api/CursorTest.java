package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CursorTest {
  @Test
  void whatAPageGaveIsRead() {
    String id = Ids.next("agent");
    assertEquals(id, Cursor.id("agent", id));
    assertEquals(12L, Cursor.number("log", Cursor.of("log", 12)));
    assertEquals("YS9i", Cursor.position("entry", Cursor.of("entry", "YS9i")));
    assertNull(Cursor.id("agent", null));
    assertNull(Cursor.number("log", null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "_",
        "agent_",
        "agent_~",
        "agent_\u2028",
        "agent_A",
        "xjob_0",
        "12",
        "agents_1",
        "agent_1 ",
        "agent_1_2"
      })
  void anythingElseIsRefused(String cursor) {
    Problem problem = assertThrows(Problem.class, () -> Cursor.id("agent", cursor));
    assertEquals("invalid_cursor", problem.errors().get(0).code());
    assertThrows(Problem.class, () -> Cursor.number("log", cursor));
  }

  @ParameterizedTest
  @ValueSource(strings = {"log_-1", "log_1234567890123456789", "log_1.5", "log_x", "revision_1"})
  void aNumberIsOne(String cursor) {
    assertThrows(Problem.class, () -> Cursor.number("log", cursor));
  }
}
