package dev.roost.runtime.kubernetes;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.client.utils.Serialization;

/** Events as the API server writes them. */
final class TestEvents {
  private TestEvents() {}

  static String event(String kind, String name, String type, String reason, String times) {
    return event("e", "1", kind, name, type, reason, times);
  }

  /**
   * @param times such as {@code 'lastTimestamp': '…'}
   */
  static String event(
      String uid,
      String version,
      String kind,
      String name,
      String type,
      String reason,
      String times) {
    return """
        {'apiVersion': 'v1', 'kind': 'Event',
         'metadata': {'name': '%s', 'uid': '%s', 'resourceVersion': '%s',
                      'creationTimestamp': '2026-11-21T18:00:00Z'},
         'involvedObject': {'kind': '%s', 'name': '%s'}, 'type': '%s', 'reason': '%s',
         'message': 'so', %s}"""
        .formatted(uid, uid, version, kind, name, type, reason, times)
        .replace('\'', '"');
  }

  static String second(int second) {
    return "'lastTimestamp': '2026-11-21T18:00:%02dZ'".formatted(second);
  }

  static Event parsed(String event) {
    return Serialization.unmarshal(event, Event.class);
  }

  /** A list of version 100. */
  static String list(String... events) {
    return """
        {"apiVersion": "v1", "kind": "EventList", "metadata": {"resourceVersion": "100"}, "items": [%s]}"""
        .formatted(String.join(",", events));
  }
}
