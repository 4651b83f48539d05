package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.execution.Frame;
import dev.roost.execution.StreamOperations;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The values that scripts emit, and their progress. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class JobStreamIT extends RunningExecution {
  @Inject StreamOperations stream;

  private void run(Object... fields) {
    stream.run(
        executor,
        execution,
        Body.parse(mapper.valueToTree(mapOf(fields)).toString().getBytes(StandardCharsets.UTF_8)));
  }

  private static Map<String, Object> mapOf(Object... fields) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < fields.length; i += 2) {
      map.put((String) fields[i], fields[i + 1]);
    }
    return map;
  }

  private void emit(int first, String... values) {
    run("op", "emit", "first", first, "values", String.join("\n", values));
  }

  private Api.Answer page(String query) {
    return api.get("/v1/executor-jobs/" + job + "/stream" + query);
  }

  private List<Object> values() {
    return page("?limit=200").get("data.value");
  }

  private void end(String frame) {
    Instant now = Instant.now();
    intake.take(
        executor,
        execution,
        List.of(
            Frame.parse(
                mapper, "{\"seq\": 1, \"type\": \"started\", \"time\": \"%s\"}".formatted(now)),
            Frame.parse(
                mapper,
                """
                {"seq": 2, "time": "%s", "logs_truncated": false,
                 "usage": {"cpu_seconds": 0.1, "max_memory_bytes": 1}, %s}"""
                    .formatted(now, frame))));
  }

  private void succeed() {
    end("\"type\": \"returned\", \"value\": \"9\"");
  }

  /** Of a stream that ends. */
  private List<String> lines(String path, String type, String... headers) {
    String[] all = Arrays.copyOf(headers, headers.length + 2);
    all[headers.length] = "Accept";
    all[headers.length + 1] = type;
    Api.Answer answer = api.get(path, all);
    assertEquals(200, answer.status(), answer.text());
    assertTrue(answer.header("Content-Type").startsWith(type), answer.header("Content-Type"));
    return answer.text().lines().filter(line -> !line.isEmpty()).toList();
  }

  @Test
  void valuesAreStoredOnceAndReadInTheirOrder() {
    emit(1, "{\"n\": 1.0}", "2");
    emit(1, "{\"n\": 1.0}", "2"); // The response was lost.
    emit(2, "2", "3", "4"); // A process that continues the attempt emits what came before again.
    assertEquals(List.of(2, 3, 4), values().subList(1, 4));
    assertTrue(page("").text().contains("{\"n\": 1.0}"), page("").text());
    assertEquals(List.of("1-1", "1-2", "1-3", "1-4"), page("").get("data.id"));
    assertEquals(
        page("").text(), api.get("/v1/executions/" + execution + "/stream").text(), "the same");
  }

  @Test
  void pagesFollowOneAnother() {
    emit(1, IntStream.range(0, 500).mapToObj(Integer::toString).toArray(String[]::new));
    emit(501, IntStream.range(500, 700).mapToObj(Integer::toString).toArray(String[]::new));
    List<Object> all = new ArrayList<>();
    String cursor = null;
    do {
      Api.Answer page = page("?limit=150" + (cursor == null ? "" : "&cursor=" + cursor));
      all.addAll(page.get("data.value"));
      cursor = page.get("next_cursor");
    } while (cursor != null);
    assertEquals(IntStream.range(0, 700).boxed().toList(), all);
    assertEquals(422, page("?limit=0").status());
    assertEquals(422, page("?cursor=x").status());
  }

  @Test
  void whatIsNoValueIsRefused() {
    for (String values : List.of("", "{", "1\n", "1\n\n2", "nan", "1 2", "\"\u0000\"")) {
      Problem refused = assertThrows(Problem.class, () -> emit(1, values), values);
      assertEquals(ErrorCode.VALIDATION_FAILED, refused.code(), values);
    }
    assertEquals(
        ErrorCode.CONFLICT, assertThrows(Problem.class, () -> emit(2, "1"), "a gap").code());
    String many = "1\n".repeat(10_000) + "1";
    assertEquals(ErrorCode.TOO_LARGE, assertThrows(Problem.class, () -> emit(1, many)).code());
    String large = "\"" + "x".repeat(1_100_000) + "\"";
    assertEquals(ErrorCode.TOO_LARGE, assertThrows(Problem.class, () -> emit(1, large)).code());
    assertThrows(Problem.class, () -> run("op", "emit", "first", 0, "values", "1"));
    assertThrows(Problem.class, () -> run("op", "drop"));
    emit(1, "[1,\r2]");
    assertEquals(List.of(List.of(1, 2)), values());
  }

  @Test
  void onlyTheRunningExecutionOfTheExecutorMayEmit() {
    String other = executor;
    executor = "executor_other";
    assertEquals(ErrorCode.FENCED, assertThrows(Problem.class, () -> emit(1, "1")).code());
    assertEquals(
        ErrorCode.FENCED,
        assertThrows(Problem.class, () -> run("op", "progress", "fraction", 0.5)).code());
    executor = other;
    succeed();
    assertEquals(ErrorCode.FENCED, assertThrows(Problem.class, () -> emit(1, "1")).code());
    assertEquals(List.of(), values());
  }

  @Test
  void progressIsShown() {
    assertNull(read(job).get("execution.progress"));
    run("op", "progress", "fraction", 0.25, "message", "reading");
    assertEquals(0.25, (double) read(job).get("execution.progress.fraction"));
    assertEquals("reading", read(job).get("execution.progress.message"));
    run("op", "progress", "message", "x".repeat(500) + "\u0000");
    assertNull(read(job).get("execution.progress.fraction"));
    assertEquals("x".repeat(200), read(job).get("execution.progress.message"));
    assertThrows(Problem.class, () -> run("op", "progress", "fraction", 1.5));
    succeed();
    assertEquals("x".repeat(200), read(job).get("execution.progress.message"));
  }

  @Test
  void aStreamHasAllValuesAndThenTheEnd() throws Exception {
    String path = "/v1/executor-jobs/" + job + "/stream";
    emit(1, "1");
    CompletableFuture<List<String>> lines =
        CompletableFuture.supplyAsync(() -> lines(path, "application/x-ndjson"));
    emit(2, "\"two\"");
    run("op", "progress", "fraction", 0.5);
    emit(3, "3");
    succeed();
    List<JsonNode> seen = new ArrayList<>();
    for (String line : lines.get(60, TimeUnit.SECONDS)) {
      seen.add(mapper.readTree(line));
    }
    List<String> values =
        seen.stream().filter(line -> line.has("value")).map(line -> line.toString()).toList();
    assertEquals(
        List.of(
            "{\"id\":\"1-1\",\"value\":1}",
            "{\"id\":\"1-2\",\"value\":\"two\"}",
            "{\"id\":\"1-3\",\"value\":3}"),
        values);
    assertEquals("succeeded", seen.get(seen.size() - 1).at("/end/state").asText());
    assertEquals(9, seen.get(seen.size() - 1).at("/end/execution/return_value").asInt());
    assertEquals(
        List.of("{\"id\":\"1-3\",\"value\":3}"),
        lines(path + "?after=1-2", "application/x-ndjson").stream()
            .filter(line -> line.contains("value\":3"))
            .toList());
    assertEquals(422, api.get(path + "?after=x", "Accept", "application/x-ndjson").status());
    assertEquals(422, api.get(path + "?after=1-x", "Accept", "text/event-stream").status());
  }

  @Test
  void eventsResumeAfterTheLastOne() {
    emit(1, "1", "2", "3");
    succeed();
    for (String path :
        List.of(
            "/v1/executor-jobs/" + job + "/stream", "/v1/executions/" + execution + "/stream")) {
      List<String> events = lines(path, "text/event-stream", "Last-Event-ID", "1-1");
      assertEquals(
          List.of("event:value", "id:1-2", "data:2", "event:value", "id:1-3", "data:3"),
          sortedWithin(events.subList(0, 6)));
      assertEquals(1, events.stream().filter(line -> line.equals("event:end")).count());
    }
  }

  /** The fields of an event may have any order. */
  private static List<String> sortedWithin(List<String> lines) {
    List<String> sorted = new ArrayList<>();
    for (int i = 0; i < lines.size(); i += 3) {
      List<String> event = lines.subList(i, i + 3);
      for (String field : List.of("event:", "id:", "data:")) {
        event.stream()
            .filter(line -> line.startsWith(field))
            .map(line -> line.replace(": ", ":"))
            .forEach(sorted::add);
      }
    }
    return sorted;
  }

  @Test
  void anotherAttemptBeginsAgain() {
    emit(1, "1", "2");
    rows.run("update executor_job set attempts = 2 where id = ?", job);
    rows.run("update execution set attempt = 2 where id = ?", execution);
    emit(1, "3");
    succeed();
    List<String> lines =
        lines("/v1/executor-jobs/" + job + "/stream?after=1-1", "application/x-ndjson");
    assertEquals("{\"restart\":{\"attempt\":2}}", lines.get(0));
    assertEquals("{\"id\":\"2-1\",\"value\":3}", lines.get(1));
    assertTrue(lines.get(2).startsWith("{\"end\":"), lines.get(2));
    assertEquals(List.of(3), values());
  }

  @Test
  void stepsSayHowManyValuesTheyHaveEmittedInThisAttempt() {
    String step =
        """
        {"op": "step", "seq": %d, "path": "%d", "name": "s", "attempts": 1, "seconds": 0, "result": "1"%s}""";
    run(step.formatted(1, 1, ", \"emitted\": 3"));
    run(step.formatted(2, 2, ""));
    JsonNode steps = run("{\"op\": \"steps\", \"after\": 0}").path("steps");
    assertEquals(3, steps.at("/0/emitted").asInt(), steps::toString);
    assertTrue(steps.at("/1/emitted").isNull(), steps::toString);
    rows.run("update execution set attempt = 2 where id = ?", execution);
    rows.run(
        "update executor_job_step set execution_id = 'exec_before' where executor_job_id = ?", job);
    steps = run("{\"op\": \"steps\", \"after\": 0}").path("steps");
    assertTrue(steps.at("/0/emitted").isNull(), steps::toString);
  }

  @Test
  void whatIsNotThereIsNotFound() {
    for (String type : List.of("application/json", "text/event-stream", "application/x-ndjson")) {
      for (String path : List.of("/v1/executor-jobs/xjob_none", "/v1/executions/exec_none")) {
        assertEquals(404, api.get(path + "/stream", "Accept", type).status(), path + type);
      }
    }
  }
}
