package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class SlotsTest {
  private final Slots slots = new Slots();

  @Test
  void aWebhookHasItsOwnCapacity() {
    assertEquals(List.of(), slots.capacities());
    for (int i = 0; i < Slots.EACH; i++) {
      slots.begin("a");
    }
    slots.begin("b");
    assertEquals(0, capacity("a"));
    assertEquals(Slots.EACH - 1, capacity("b"));
    assertEquals(Slots.ALL - Slots.EACH - 1, slots.capacity());
    slots.end("a", false);
    assertEquals(1, capacity("a"));
    slots.end("b", false);
    assertEquals(1, slots.capacities().size());
  }

  @Test
  void oneThatHangsGetsOneAtATimeUntilItAnswers() {
    slots.begin("a");
    slots.begin("a");
    slots.end("a", true);
    assertEquals(new Slots.Capacity("a", 0, true), slots.capacities().get(0));
    slots.end("a", true);
    assertEquals(new Slots.Capacity("a", 1, true), slots.capacities().get(0));
    slots.begin("a");
    assertEquals(0, capacity("a"));
    slots.end("a", false);
    assertEquals(List.of(), slots.capacities());
  }

  @Test
  void receiversThatHangLeaveCapacityForOthers() {
    for (int i = 0; i < Slots.ALL; i++) {
      slots.begin("hook_" + i);
      slots.end("hook_" + i, true);
    }
    for (int i = 0; slots.slowCapacity() > 0; i++) {
      slots.begin("hook_" + i);
    }
    assertEquals(Slots.ALL / 2, slots.capacity());
  }

  @Test
  void whatIsRememberedHasABound() {
    for (int i = 0; i < 5_000; i++) {
      slots.begin("hook_" + i);
      slots.end("hook_" + i, true);
    }
    assertEquals(1_000, slots.capacities().size());
    assertEquals(1, capacity("hook_4999"));
  }

  private int capacity(String webhookId) {
    return slots.capacities().stream()
        .filter(capacity -> capacity.webhookId().equals(webhookId))
        .findFirst()
        .orElseThrow()
        .requests();
  }
}
