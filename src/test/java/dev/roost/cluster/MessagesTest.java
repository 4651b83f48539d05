package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessagesTest {
  private final List<Object> heard = new ArrayList<>();
  private final Replicas.Listener listener =
      new Replicas.Listener() {
        @Override
        public void topic(String topic) {
          heard.add(topic);
        }

        @Override
        public void event(Shared event) {
          heard.add(event);
        }

        @Override
        public void anything() {
          heard.add(Payload.ANYTHING);
        }
      };

  record Sample(String agentId, int revision) implements Shared {}

  record Empty() implements Shared {}

  @Test
  void topicsAndEventsArriveAsTheyWere() {
    Messages.deliver(Messages.topic("exec_1/cancel"), listener);
    Messages.deliver(Messages.event(new Sample("agent_é \n\"", 7)), listener);
    Messages.deliver(Messages.event(new Empty()), listener);
    Messages.deliver(Payload.ANYTHING, listener);
    assertEquals(
        List.of("exec_1/cancel", new Sample("agent_é \n\"", 7), new Empty(), Payload.ANYTHING),
        heard);
  }

  @Test
  void aFieldOfANewerVersionDoesNotHurt() {
    String message = Messages.event(new Sample("agent_1", 2)).replace("{", "{\"since\": 1, ");
    Messages.deliver(message, listener);
    assertEquals(List.of(new Sample("agent_1", 2)), heard);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "event",
        "event ",
        "event executor.Unheard {}",
        "event event.Signals {}",
        "event event.MessagesTest$Sample [",
        "event event.MessagesTest$Sample",
        "vacant",
        "something else",
        ""
      })
  void whatIsNotUnderstoodIsPassedOver(String message) {
    Messages.deliver(message, listener);
    assertEquals(List.of(), heard);
  }
}
