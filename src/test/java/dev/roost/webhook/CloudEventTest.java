package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class CloudEventTest {
  private static final Instant TIME = Instant.parse("2026-11-22T01:02:03.004005Z");

  @Test
  void theBodyIsACloudEventWithTheDataAsItIs() {
    String data = "{\"id\" : \"exec_1\", \"n\": 1.10, \"s\": \"\\u0000 100% %s\"}";
    assertEquals(
        "{\"specversion\":\"1.0\",\"id\":\"42\",\"source\":\"urn:roost:x-y\","
            + "\"type\":\"dev.roost.execution.failed\",\"subject\":\"exec_1\","
            + "\"time\":\"2026-11-22T01:02:03.004005Z\",\"datacontenttype\":\"application/json\","
            + "\"sequence\":\"0000000000000000042\",\"data\":"
            + data
            + "}",
        new CloudEvent(42, "x-y", "execution.failed", "exec_1", TIME, data).json());
  }

  @Test
  void sequencesSortAsText() {
    String before = "";
    for (long position : new long[] {1, 9, 10, 99, 100, 1L << 40, Long.MAX_VALUE}) {
      String json = new CloudEvent(position, "x", "webhook.test", "hook_1", TIME, "{}").json();
      String sequence = json.replaceAll(".*\"sequence\":\"(\\d+)\".*", "$1");
      assertTrue(before.compareTo(sequence) < 0, sequence);
      before = sequence;
    }
  }

  @Test
  void aSubjectCantBreakOut() {
    String json = new CloudEvent(1, "x", "webhook.test", "a\"\n\\", TIME, "{}").json();
    assertTrue(json.contains("\"subject\":\"a\\\"\\n\\\\\""), json);
  }
}
