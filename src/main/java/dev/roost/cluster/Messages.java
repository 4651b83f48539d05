package dev.roost.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * Encodes topics and events for a {@link Payload}. During an update, replicas of two versions run
 * side by side: a replica ignores unknown messages, which is safe because notifications may be lost
 * anyway.
 */
final class Messages {
  private static final Logger LOG = Logger.getLogger(Messages.class);
  private static final String TOPIC = "topic ";
  private static final String EVENT = "event ";
  private static final String ROOT = "dev.roost.";

  private static final ObjectMapper MAPPER =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  private Messages() {}

  static String topic(String topic) {
    return TOPIC + topic;
  }

  static String event(Shared event) {
    try {
      String name = event.getClass().getName().substring(ROOT.length());
      return EVENT + name + " " + MAPPER.writeValueAsString(event);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  static void deliver(String message, Replicas.Listener listener) {
    if (message.equals(Payload.ANYTHING)) {
      listener.anything();
    } else if (message.startsWith(TOPIC)) {
      listener.topic(message.substring(TOPIC.length()));
    } else if (message.startsWith(EVENT)) {
      read(message.substring(EVENT.length())).ifPresent(listener::event);
    }
  }

  private static Optional<Shared> read(String text) {
    int space = text.indexOf(' ');
    try {
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      Class<?> type = Class.forName(ROOT + text.substring(0, space), false, loader);
      return Shared.class.isAssignableFrom(type)
          ? Optional.of((Shared) MAPPER.readValue(text.substring(space + 1), type))
          : Optional.empty();
    } catch (ClassNotFoundException | JsonProcessingException | IndexOutOfBoundsException e) {
      LOG.debugf("an event of another version is ignored: %s", text);
      return Optional.empty();
    }
  }
}
