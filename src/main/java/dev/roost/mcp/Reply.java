package dev.roost.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smallrye.mutiny.Multi;

/** What a request gets. */
sealed interface Reply {
  /** A result, at once. */
  record Result(ObjectNode result) implements Reply {}

  /** Events, the last of which has the result. */
  record Stream(Multi<Event> events) implements Reply {}

  /**
   * A server-sent event.
   *
   * @param id from which a client continues after a lost connection; or null
   * @param json a message; null: only a sign that the connection is in use
   * @param isLast whether the stream ends with it
   */
  record Event(String id, byte[] json, boolean isLast) {
    static final Event IDLE = new Event(null, null, false);
  }
}
