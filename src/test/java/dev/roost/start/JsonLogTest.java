package dev.roost.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.util.Map;
import java.util.logging.Level;
import org.jboss.logmanager.ExtLogRecord;
import org.junit.jupiter.api.Test;

/** Log events as lines of JSON. */
class JsonLogTest {
  private static final JsonLog LOG = new JsonLog();

  private static ExtLogRecord event(String message) {
    ExtLogRecord event = new ExtLogRecord(Level.WARNING, message, JsonLogTest.class.getName());
    event.setLoggerName("dev.roost.Test");
    event.setInstant(Instant.parse("2026-11-23T12:00:00.5Z"));
    event.setMdc(Map.of("request_id", "req_1", "message", "not this"));
    return event;
  }

  private static JsonNode read(String line) throws JsonProcessingException {
    assertTrue(line.endsWith("\n"));
    assertFalse(line.substring(0, line.length() - 1).contains("\n"), line);
    return new ObjectMapper().readTree(line);
  }

  @Test
  void anEventIsOneLineWithItsContext() throws JsonProcessingException {
    String message = "first\nsecond \"quoted\" \u0001";
    JsonNode json = read(LOG.format(event(message)));
    assertEquals("2026-11-23T12:00:00.500Z", json.path("time").asText());
    assertEquals("WARNING", json.path("level").asText());
    assertEquals("dev.roost.Test", json.path("logger").asText());
    assertEquals(message, json.path("message").asText());
    assertEquals("req_1", json.path("request_id").asText());
    assertTrue(json.path("error").isMissingNode());
  }

  @Test
  void aStackTraceIsAFieldOfIt() throws JsonProcessingException {
    ExtLogRecord event = event("failed");
    event.setThrown(new IllegalStateException("outer", new IllegalArgumentException("in\nner")));
    String trace = read(LOG.format(event)).path("error").asText();
    assertTrue(trace.startsWith("java.lang.IllegalStateException: outer\n\tat "), trace);
    assertTrue(trace.contains("Caused by: java.lang.IllegalArgumentException: in\nner"), trace);
  }
}
