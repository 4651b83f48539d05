package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class SlotsTest {
  private final Slots slots = new Slots();

  @Test
  void aWebhookHasARoomOfItsOwn() {
    assertEquals(List.of(), slots.rooms());
    for (int i = 0; i < Slots.EACH; i++) {
      slots.begin("a");
    }
    slots.begin("b");
    assertEquals(0, room("a"));
    assertEquals(Slots.EACH - 1, room("b"));
    assertEquals(Slots.ALL - Slots.EACH - 1, slots.room());
    slots.end("a", false);
    assertEquals(1, room("a"));
    slots.end("b", false);
    assertEquals(1, slots.rooms().size());
  }

  @Test
  void oneThatHangsGetsOneAtATimeUntilItAnswers() {
    slots.begin("a");
    slots.begin("a");
    slots.end("a", true);
    assertEquals(new Slots.Room("a", 0, true), slots.rooms().get(0));
    slots.end("a", true);
    assertEquals(new Slots.Room("a", 1, true), slots.rooms().get(0));
    slots.begin("a");
    assertEquals(0, room("a"));
    slots.end("a", false);
    assertEquals(List.of(), slots.rooms());
  }

  @Test
  void thoseThatHangLeaveRoomForOthers() {
    for (int i = 0; i < Slots.ALL; i++) {
      slots.begin("hook_" + i);
      slots.end("hook_" + i, true);
    }
    for (int i = 0; slots.slowRoom() > 0; i++) {
      slots.begin("hook_" + i);
    }
    assertEquals(Slots.ALL / 2, slots.room());
  }

  @Test
  void whatIsRememberedHasABound() {
    for (int i = 0; i < 5_000; i++) {
      slots.begin("hook_" + i);
      slots.end("hook_" + i, true);
    }
    assertEquals(1_000, slots.rooms().size());
    assertEquals(1, room("hook_4999"));
  }

  private int room(String webhookId) {
    return slots.rooms().stream()
        .filter(room -> room.webhookId().equals(webhookId))
        .findFirst()
        .orElseThrow()
        .requests();
  }
}
