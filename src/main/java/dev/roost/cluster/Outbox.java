package dev.roost.cluster;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What is still to be told: each message once, and only so many. Beyond that, one message stands
 * for all of them.
 */
final class Outbox {
  private final int capacity;
  private final String anything;
  private final Set<String> messages = new LinkedHashSet<>();
  private boolean closed;

  /**
   * @param anything the message that stands for any others
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
   * What waits, oldest first. Blocks until there is something; empty: closed, and all was taken.
   */
  synchronized List<String> take() throws InterruptedException {
    while (messages.isEmpty() && !closed) {
      wait();
    }
    List<String> taken = new ArrayList<>(messages);
    messages.clear();
    return taken;
  }

  /** Takes no more messages. */
  synchronized void close() {
    closed = true;
    notifyAll();
  }
}
