package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The log of a control plane whose log format is JSON. */
@EveryRuntime
@LocalOnly("the control plane is this process on every runtime")
class JsonLogIT {
  @Test
  void everyLineIsAnEventAndThoseOfARequestHaveItsIdentifier() {
    try (RoostProcess roost =
        RoostProcess.prepared(
            "ROOST_LOG_FORMAT", "json",
            "ROOST_WELCOME", "true",
            "ROOST_ACCESS_LOG", "true",
            "QUARKUS_LOG_CONSOLE_LEVEL", "DEBUG",
            "QUARKUS_LOG_CATEGORY__ORG_HIBERNATE__LEVEL", "DEBUG")) {
      roost.start();
      Client client = roost.client();
      client.get("/v1/agents", "X-Request-Id", "mine-1").expect(200);
      HttpAnswer missing = client.get("/v1/agents/agent_x", "X-Request-Id", "mine 2").expect(404);
      String made = missing.header("X-Request-Id");
      assertEquals(made, missing.json().path("request_id").asText());
      assertFalse(made.contains("mine"), made);
      Eventually.until("both are logged", () -> roost.output().contains("\"" + made + "\""));
      List<JsonNode> events = roost.output().lines().map(HttpAnswer::parse).toList();
      assertTrue(
          events.stream()
              .anyMatch(
                  event ->
                      event.path("request_id").asText().equals("mine-1")
                          && event.path("status").asText().equals("200")),
          roost.output());
      assertTrue(
          events.stream()
              .anyMatch(
                  event ->
                      event.path("request_id").asText().equals("mine-1")
                          && event.path("logger").asText().equals("org.hibernate.SQL")),
          "what was done for the request");
      assertTrue(
          events.stream().anyMatch(event -> event.path("message").asText().contains("ready")));
      assertFalse(roost.output().contains("/login?token="), "the log tells how to sign in");
      roost.terminate();
    }
  }
}
