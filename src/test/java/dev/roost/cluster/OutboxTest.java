package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OutboxTest {
  private final Outbox outbox = new Outbox(3, "anything");

  @Test
  void eachMessageWaitsOnceInTheOrderOfTheFirst() throws InterruptedException {
    List.of("a", "b", "a", "c", "b").forEach(outbox::add);
    assertEquals(List.of("a", "b", "c"), outbox.take());
    outbox.add("a");
    assertEquals(List.of("a"), outbox.take());
  }

  @Test
  void beyondItsCapacityOneMessageStandsForAll() throws InterruptedException {
    List.of("a", "b", "c", "d", "e").forEach(outbox::add);
    assertEquals(List.of("anything"), outbox.take());
    outbox.add("f");
    assertEquals(List.of("f"), outbox.take());
  }

  @Test
  void whatWaitsWhenItIsClosedIsTakenAndNothingAfterwards() throws InterruptedException {
    outbox.add("a");
    outbox.close();
    outbox.add("b");
    assertEquals(List.of("a"), outbox.take());
    assertEquals(List.of(), outbox.take());
  }
}
