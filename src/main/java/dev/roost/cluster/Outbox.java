package dev.roost.cluster;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Unsent messages, without duplicates and of limited number. Beyond the limit, one message
 * represents all messages.
 */
final class Outbox {
  private final int capacity;
  private final String anything;
  private final Set<String> messages = new LinkedHashSet<>();
  private boolean closed;

  /**
   * @param anything the message that represents all other messages
   */
  Outbox(int capacity, String anything) {
    this.capacity = capacity;
    this.anything = anything;
  }

  synchronized void add(String message) {
    if (closed || messages.contains(anything) || messages.contains(message)) {
      return;
    }
    if (message.equals(anything) || messages.size() == capacity) {
      messages.clear();
      messages.add(anything);
    } else {
      messages.add(message);
    }
    notifyAll();
  }

  /**
   * Takes all messages, oldest first. Blocks until a message is present; empty: closed, and all
   * messages were taken.
   */
  synchronized List<String> take() throws InterruptedException {
    while (messages.isEmpty() && !closed) {
      wait();
    }
    List<String> taken = new ArrayList<>(messages);
    messages.clear();
    return taken;
  }

  /** Rejects further messages. */
  synchronized void close() {
    closed = true;
    notifyAll();
  }
}
