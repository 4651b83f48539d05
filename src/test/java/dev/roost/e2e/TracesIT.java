package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** From the caller's span through Roost's own to the script. */
@EveryRuntime
class TracesIT {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String OTHER_TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String LATER_TRACE = "a".repeat(32);
  private static final String CALLER = "00f067aa0ba902b7";

  private static final String SCRIPT =
      """
      import os

      def main(request):
          found = [os.environ.get("TRACEPARENT"), os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")]
          if request.payload == "fail":
              raise ValueError(found)
          return found
      """;

  private static SpanCollector collector;
  private static RoostProcess traced;
  private static RoostProcess plain;

  @BeforeAll
  static void start() {
    collector = new SpanCollector();
    traced = RoostProcess.prepared();
    traced.set("ROOST_TRACES_ENDPOINT", collector.url());
    traced.set("ROOST_TRACES_SCRIPT_ENDPOINT", "http://collector.example:4318");
    traced.start();
    plain = RoostProcess.started();
  }

  @AfterAll
  static void end() {
    traced.close();
    plain.close();
    collector.close();
  }

  private static JsonNode execute(
      RoostProcess roost, String agent, String body, String... headers) {
    String path = "/v1/agents/" + agent + "/execute?wait=60";
    Client client = roost.client();
    return client.ended(client.post(path, body, headers).expect(201).json().path("id").asText());
  }

  private static Span span(String trace, String name) {
    return Eventually.value(
        name + " is exported",
        () -> collector.of(trace).stream().filter(span -> span.getName().equals(name)).findFirst());
  }

  @Test
  void theScriptContinuesWithTheCallersTrace() {
    String agent = traced.client().agent(SCRIPT, "name", "traced");
    String header = "00-" + TRACE + "-" + CALLER + "-01";
    JsonNode found =
        execute(traced, agent, "{}", "traceparent", header).at("/execution/return_value");
    assertEquals("http://collector.example:4318", found.path(1).asText());

    Span execute = span(TRACE, "execute traced");
    assertEquals("00-" + TRACE + "-" + SpanCollector.id(execute) + "-01", found.path(0).asText());
    Span request =
        Eventually.value(
            "the request's span is exported",
            () ->
                collector.of(TRACE).stream()
                    .filter(span -> SpanCollector.parent(span).equals(CALLER))
                    .findFirst());
    assertEquals(SpanCollector.id(request), SpanCollector.parent(execute));
    long before = execute.getStartTimeUnixNano();
    for (String step : List.of("queued", "starting", "main")) {
      Span span = span(TRACE, step);
      assertEquals(SpanCollector.id(execute), SpanCollector.parent(span), step);
      assertEquals(before, span.getStartTimeUnixNano(), step + " begins where the last one ended");
      before = span.getEndTimeUnixNano();
    }
    assertEquals(before, execute.getEndTimeUnixNano());
  }

  @Test
  @LocalOnly("the control plane does it; the other test follows a trace into a pod")
  void aFailureIsOneInTheTraceAlsoWithoutACallersTrace() {
    String agent = traced.client().agent(SCRIPT, "name", "failing");
    JsonNode job = execute(traced, agent, "{\"payload\": \"fail\"}");
    String message = job.at("/execution/error/message").asText();
    int at = message.indexOf("00-");
    assertTrue(at > 0, job::toPrettyString);
    Span execute = span(message.substring(at + 3, at + 35), "execute failing");
    assertEquals(Status.StatusCode.STATUS_CODE_ERROR, execute.getStatus().getCode());
    assertEquals(message.substring(at + 36, at + 52), SpanCollector.id(execute));
  }

  @Test
  @LocalOnly("the control plane does it; the other test follows a trace into a pod")
  void aTraceThatIsNotRecordedIsNotExported() {
    String agent = traced.client().agent(SCRIPT, "name", "unrecorded");
    String header = "00-" + OTHER_TRACE + "-" + CALLER + "-00";
    JsonNode found =
        execute(traced, agent, "{}", "traceparent", header).at("/execution/return_value");
    assertTrue(found.path(0).asText().matches("00-" + OTHER_TRACE + "-[0-9a-f]{16}-00"));
    execute(traced, agent, "{}", "traceparent", "00-" + LATER_TRACE + "-" + CALLER + "-01");
    span(LATER_TRACE, "execute unrecorded"); // By then the others would have been exported, too.
    assertEquals(List.of(), collector.of(OTHER_TRACE));
  }

  @Test
  @LocalOnly("the control plane does it; the other test follows a trace into a pod")
  void withoutACollectorTheCallersTraceReachesTheScriptAllTheSame() {
    String agent = plain.client().agent(SCRIPT);
    String header = "00-" + TRACE + "-" + CALLER + "-01";
    JsonNode found =
        execute(plain, agent, "{}", "traceparent", header).at("/execution/return_value");
    assertEquals(header, found.path(0).asText());
    assertTrue(found.path(1).isNull());
    JsonNode garbage =
        execute(plain, agent, "{}", "traceparent", "00-nonsense").at("/execution/return_value");
    assertTrue(garbage.path(0).isNull(), garbage::toString);
    String body = "{\"payloads\": [1, 2]}";
    JsonNode batch =
        plain
            .client()
            .post("/v1/agents/" + agent + "/execute-batch", body, "traceparent", header)
            .expect(201)
            .json();
    JsonNode second = plain.client().ended(batch.at("/executor_job_ids/1").asText());
    assertEquals(header, second.at("/execution/return_value/0").asText(), second::toPrettyString);
  }
}
