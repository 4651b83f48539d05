package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.execution.FrameLimits;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A script that has got hold of its executor's token speaks for the executor. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(180)
class ForgedFramesIT {
  private static final String TIME = "2026-11-23T03:00:00Z";
  private static final int LINE_BYTES = 65_536;
  private static final int LOG_BYTES = (32 << 20) + (1 << 20) + 65_536;

  @Inject Dispatcher dispatcher;
  @Inject ExecutorTokens tokens;
  @Inject ObjectMapper mapper;
  @Inject EntityManager entities;

  private final HttpClient http = HttpClient.newHttpClient();
  private Api api;
  private String executor;
  private String execution;
  private int frames;
  private int lines;

  @BeforeEach
  void startAnExecution() {
    api = Api.as(Role.WRITE);
    String agent =
        api.post("/v1/agents", "{\"script\": \"def main():\\n  return 1\", \"max_attempts\": 1}")
            .get("id");
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                entities
                    .createNativeQuery(
                        "update builder_job set state = 'succeeded' where agent_id = :agent")
                    .setParameter("agent", agent)
                    .executeUpdate());
    api.post("/v1/agents/" + agent + "/execute", "{}");
    executor =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(300)))
            .orElseThrow()
            .id;
    execution =
        assertInstanceOf(
                dev.roost.executor.PollAnswer.Some.class,
                dispatcher.poll(executor, new Poll(1, true, true), Duration.ofSeconds(30)).join())
            .work()
            .executionId();
  }

  private ObjectNode frame(String type) {
    return mapper.createObjectNode().put("seq", ++frames).put("type", type).put("time", TIME);
  }

  private ObjectNode log(int count, String message) {
    ObjectNode frame = frame("log");
    ArrayNode entries = frame.putArray("entries");
    for (int i = 0; i < count; i++) {
      entries
          .addObject()
          .put("seq", ++lines)
          .put("time", TIME)
          .put("stream", "logging")
          .put("level", "INFO")
          .put("logger", "x".repeat(5_000))
          .put("message", message);
    }
    return frame;
  }

  private void send(ObjectNode frame) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(
                    URI.create(
                        "http://localhost:"
                            + RestAssured.port
                            + "/internal/v1/executions/"
                            + execution
                            + "/frames"))
                .header("Authorization", "Bearer " + tokens.make(executor))
                .header("Content-Type", "application/x-ndjson")
                .POST(HttpRequest.BodyPublishers.ofString(frame + "\n"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertEquals(200, answer.statusCode(), answer.body());
    assertTrue(answer.body().contains("\"acknowledged\":" + frames), answer.body());
  }

  private Answer read() {
    return api.get("/v1/executions/" + execution);
  }

  private long stored(String what) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                ((Number)
                        entities
                            .createNativeQuery(
                                "select " + what + " from log_entry where owner_id = :owner")
                            .setParameter("owner", execution)
                            .getSingleResult())
                    .longValue());
  }

  @Test
  void aLogEndsAtItsLimitAndTheExecutionContinues() throws Exception {
    String line = "y".repeat(LINE_BYTES);
    for (int sent = 0; sent <= LOG_BYTES; sent += 32 * LINE_BYTES) {
      send(log(32, line));
    }
    long kept = stored("count(*)");
    assertTrue(stored("sum(octet_length(message))") <= LOG_BYTES, "no more than the limit");
    for (int i = 0; i < 3; i++) {
      send(log(32, line));
    }
    assertEquals(kept, stored("count(*)"));
    assertEquals(kept, stored("max(seq)"));
    assertEquals(1_000, stored("max(length(logger))"));
    Answer last = api.get("/v1/executions/" + execution + "/logs?after_seq=" + (kept - 1));
    assertEquals("system", last.get("data[0].stream"));
    assertEquals(FrameLimits.CUT, last.get("data[0].message"));
    send(frame("returned").put("value", "1"));
    assertEquals("succeeded", read().get("state"));
    assertEquals(true, read().get("logs_truncated"));
  }

  @Test
  void aLineIsNoLongerThanItsLimit() throws Exception {
    send(log(1, "z".repeat(3 * LINE_BYTES)));
    assertEquals(LINE_BYTES, stored("max(octet_length(message))"));
  }

  @Test
  void aReturnValueThatIsTooLargeFailsTheExecution() throws Exception {
    send(frame("returned").put("value", "\"" + "v".repeat(16 << 20) + "\""));
    assertEquals("failed", read().get("state"));
    assertEquals("return_value_too_large", read().get("reason"));
    assertNull(read().get("return_value"));
  }

  @Test
  void aFailureIsNoLongerThanOneOfAnExecutor() throws Exception {
    ObjectNode failed =
        frame("failed")
            .put("state", "failed")
            .put("reason", "exception")
            .put("message", "m".repeat(1_000_000));
    failed
        .putObject("error")
        .put("type", "E")
        .put("message", "m")
        .put("traceback", "t".repeat(1_000_000))
        .put("line", 1)
        .put("more", "x".repeat(1_000_000));
    failed.putObject("usage").put("cpu_seconds", 1).put("max_memory_bytes", 1e30);
    send(failed);
    assertEquals(4_000, read().<String>get("message").length());
    assertEquals(131_072, read().<String>get("error.traceback").length());
    assertNull(read().get("error.more"));
    assertTrue(read().text().length() < 150_000);
  }
}
