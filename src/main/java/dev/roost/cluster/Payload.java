package dev.roost.cluster;

import dev.roost.api.Text;
import java.util.ArrayList;
import java.util.List;

/**
 * The content of one notification: the sender on the first line, then one message per line.
 *
 * @param sender a replica's identifier
 */
record Payload(String sender, List<String> messages) {
  /** PostgreSQL refuses 8,000 bytes and more. */
  static final int MAX_BYTES = 7_999;

  /** Anything may have changed. */
  static final String ANYTHING = "anything";

  /** The leader has resigned. */
  static final String VACANT = "vacant";

  /**
   * Packs the messages into as few payloads as possible; a message too large for a payload becomes
   * {@link #ANYTHING}.
   */
  static List<String> pack(String sender, List<String> messages) {
    List<String> payloads = new ArrayList<>();
    StringBuilder payload = new StringBuilder(sender);
    int first = Text.sizeBytes(sender);
    int size = first;
    for (String given : messages) {
      boolean fits = first + 1 + Text.sizeBytes(given) <= MAX_BYTES && given.indexOf('\n') < 0;
      String message = fits ? given : ANYTHING;
      int more = 1 + Text.sizeBytes(message);
      if (size + more > MAX_BYTES) {
        payloads.add(payload.toString());
        payload.setLength(sender.length());
        size = first;
      }
      payload.append('\n').append(message);
      size += more;
    }
    if (size > first) {
      payloads.add(payload.toString());
    }
    return payloads;
  }

  static Payload unpack(String text) {
    List<String> lines = List.of(text.split("\n"));
    return new Payload(lines.get(0), lines.subList(1, lines.size()));
  }
}
