package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Ids;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.execution.Frame;
import dev.roost.execution.FrameIntake;
import dev.roost.execution.Work;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The steps of a job, as its executors send and read them, and as the API lists them. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class JobStepsIT {
  private static final int MOST_BYTES = 16 << 20;

  @Inject Dispatcher dispatcher;
  @Inject ExecutorTokens tokens;
  @Inject FrameIntake intake;
  @Inject ObjectMapper mapper;
  @Inject Database database;

  private final HttpClient http = HttpClient.newHttpClient();
  private Rows rows;
  private Api api;
  private String executor;
  private String job;
  private String execution;
  private int polls;

  @BeforeEach
  void startAnExecution() {
    rows = new Rows(database);
    api = Api.as(Role.WRITE);
    String agent =
        api.post(
                "/v1/agents",
                "{\"script\": \"def main():\\n  return 1\", \"max_attempts\": 3, \"retry_delay\": 0}")
            .get("id");
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", agent);
    executor =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(30)))
            .orElseThrow()
            .id;
    job = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");
    assertFalse(claim().hasSteps(), "the first attempt has nothing to replay");
  }

  private Work claim() {
    Work work =
        assertInstanceOf(
                PollAnswer.Some.class,
                dispatcher
                    .poll(executor, new Poll(++polls, true, true), Duration.ofSeconds(30))
                    .join())
            .work();
    execution = work.executionId();
    return work;
  }

  /** Ends the attempt; the next one follows. */
  private void fail() {
    Instant now = Instant.now();
    intake.take(
        executor,
        execution,
        List.of(
            frame("{\"seq\": 1, \"type\": \"started\", \"time\": \"%s\"}".formatted(now)),
            frame(
                """
                {"seq": 2, "type": "failed", "time": "%s", "state": "failed", "reason": "exception", "message": "m",
                 "logs_truncated": false, "usage": {"cpu_seconds": 0.1, "max_memory_bytes": 1}}"""
                    .formatted(now))));
    dispatcher.heard(executor, execution, true);
  }

  private Frame frame(String text) {
    return Frame.parse(mapper, text);
  }

  private record Answer(int status, JsonNode body) {}

  private Answer send(String op, String fields) throws Exception {
    String members = fields.isEmpty() ? "" : ", " + fields.replace('\'', '"');
    ObjectNode body =
        (ObjectNode)
            mapper.readTree(
                "{\"op\": \"%s\", \"execution_id\": \"%s\"%s}".formatted(op, execution, members));
    return send(body);
  }

  private Answer send(ObjectNode body) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(
                    URI.create(
                        "http://localhost:%d/internal/v1/executions/%s/steps"
                            .formatted(RestAssured.port, execution)))
                .header("Authorization", "Bearer " + tokens.make(executor))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    return new Answer(answer.statusCode(), mapper.readTree(answer.body()));
  }

  private Answer save(int seq, String path, String name, String end) throws Exception {
    return send(
        "step",
        "'seq': %d, 'path': '%s', 'name': '%s', 'attempts': 2, 'seconds': 1.5, %s"
            .formatted(seq, path, name, end));
  }

  private void saved(int seq, String path, String name, String end) throws Exception {
    Answer answer = save(seq, path, name, end);
    assertEquals(200, answer.status(), answer.body().toString());
  }

  private void refused(int status, String code, Answer answer) {
    assertEquals(status, answer.status(), answer.body().toString());
    assertEquals(code, answer.body().path("code").asText());
  }

  private Api.Answer list(String query) {
    return api.get("/v1/executor-jobs/" + job + "/steps" + query);
  }

  @Test
  void theNextAttemptReadsWhatTheFirstHasStored() throws Exception {
    saved(1, "1", "fetch", "'result': '{\\\"n\\\": 1.0, \\\"n\\\": \\\"\\\\u0000\\\"}'");
    saved(
        2,
        "2/1",
        "pay",
        "'error_type': 'ValueError', 'error_message': 'a\\u0000b', 'error_traceback': 'line 3', "
            + "'error_arguments': '[\\\"a\\\"]'");
    saved(3, "3", "skip", "'error_type': 'ValueError', 'error_message': ''");
    assertEquals(200, send("reopen_steps", "'steps': [{'seq': 2}]").status());
    String first = execution;
    fail();

    assertTrue(claim().hasSteps());
    JsonNode page = send("steps", "'after': 0").body();
    assertEquals(
        List.of("1 1 fetch", "2 2/1 pay", "3 3 skip"),
        page.path("steps").findValues("seq").stream()
            .map(seq -> page.path("steps").get(seq.asInt() - 1))
            .map(s -> s.path("seq") + " " + s.path("path").asText() + " " + s.path("name").asText())
            .toList());
    JsonNode fetched = page.path("steps").get(0);
    assertEquals("{\"n\": 1.0, \"n\": \"\\u0000\"}", fetched.path("result").asText());
    assertEquals(first, fetched.path("execution_id").asText());
    assertFalse(fetched.path("open").asBoolean(true));
    JsonNode failed = page.path("steps").get(1);
    assertTrue(failed.path("open").asBoolean());
    assertEquals("ValueError", failed.path("error").path("type").asText());
    assertEquals("a\uFFFDb", failed.path("error").path("message").asText());
    assertEquals("[\"a\"]", failed.path("error").path("arguments").asText());
    assertFalse(page.path("steps").get(2).path("open").asBoolean(true));
    assertTrue(page.path("more").asBoolean());
    JsonNode rest = send("steps", "'after': 3").body();
    assertEquals(0, rest.path("steps").size());
    assertFalse(rest.path("more").asBoolean(true));

    saved(4, "2/1", "pay", "'result': 'null'");
    Api.Answer listed = list("");
    assertEquals(List.of(1, 2, 3, 4), listed.get("data.number"));
    assertEquals(List.of("succeeded", "failed", "failed", "succeeded"), listed.get("data.state"));
    assertEquals(List.of(first, first, first, execution), listed.get("data.execution_id"));
    assertEquals("line 3", listed.get("data[1].error.traceback"));
    assertNull(listed.get("data[1].result"));
    assertNull(listed.get("data[0].error"));
    assertEquals(2, listed.<Integer>get("data[0].attempts"));
    assertEquals(1.5, listed.<Double>get("data[0].duration_seconds"));
    assertTrue(listed.text().contains("{\"n\": 1.0, \"n\": \"\\u0000\"}"), listed.text());
  }

  @Test
  void theListHasPages() throws Exception {
    for (int i = 1; i <= 5; i++) {
      saved(i, "" + i, "s" + i, "'result': '%d'".formatted(i));
    }
    Api.Answer first = list("?limit=2");
    assertEquals(List.of("s1", "s2"), first.get("data.name"));
    Api.Answer second = list("?limit=2&cursor=" + first.get("next_cursor"));
    assertEquals(List.of("s3", "s4"), second.get("data.name"));
    Api.Answer last = list("?limit=2&cursor=" + second.get("next_cursor"));
    assertEquals(List.of("s5"), last.get("data.name"));
    assertNull(last.get("next_cursor"));
    assertEquals(422, list("?cursor=step_").status());
    assertEquals(404, api.get("/v1/executor-jobs/xjob_none/steps").status());
  }

  @Test
  void aPageForAnExecutorHasALimitedSize() throws Exception {
    String mebibyte = "'result': '\\\"%s\\\"'".formatted("x".repeat(1 << 20));
    for (int i = 1; i <= 6; i++) {
      saved(i, "" + i, "s", mebibyte);
    }
    int count = 0;
    int pages = 0;
    JsonNode page;
    do {
      page = send("steps", "'after': " + count).body();
      assertTrue(page.path("steps").size() <= 4, "4 MiB");
      count += page.path("steps").size();
      pages++;
    } while (page.path("more").asBoolean());
    assertEquals(6, count);
    assertEquals(3, pages);
  }

  @Test
  void aStepThatIsSentAgainIsSavedOnce() throws Exception {
    saved(1, "1", "a", "'result': '1'");
    saved(1, "1", "a", "'result': '1'");
    assertEquals(1, list("").<List<Object>>get("data").size());
    refused(409, "conflict", save(1, "2", "b", "'result': '1'"));
    refused(409, "conflict", save(3, "3", "c", "'result': '1'"));
    assertEquals(1, list("").<List<Object>>get("data").size());
  }

  @Test
  void anExecutionThatHasEndedCanDoNothing() throws Exception {
    saved(1, "1", "a", "'error_type': 'E', 'error_message': 'm'");
    String ended = execution;
    fail();
    claim();
    String current = execution;
    execution = ended;
    refused(409, "fenced", save(2, "2", "b", "'result': '1'"));
    refused(409, "fenced", send("steps", "'after': 0"));
    refused(409, "fenced", send("reopen_steps", "'steps': [{'seq': 1}]"));
    execution = current;
    assertEquals(200, send("steps", "'after': 0").status());
    rows.run("update execution set executor_id = ? where id = ?", Ids.next("executor"), current);
    refused(409, "fenced", send("steps", "'after': 0"));
  }

  @Test
  void theHistoryOfAJobHasLimits() throws Exception {
    String third = "'result': '\\\"%s\\\"'".formatted("x".repeat(MOST_BYTES / 3));
    saved(1, "1", "a", third);
    saved(2, "2", "b", third);
    Answer full = save(3, "3", "c", third);
    refused(413, "too_large", full);
    assertTrue(full.body().path("detail").asText().contains("roost.limits.step-bytes"));
    saved(3, "3", "c", "'result': '1'");
    Answer many = save(10_001, "4", "d", "'result': '1'");
    refused(413, "too_large", many);
    assertTrue(many.body().path("detail").asText().contains("at most 10,000 steps"));
  }

  @Test
  void wrongRequestsAreRefused() throws Exception {
    for (String wrong :
        List.of(
            "",
            "'seq': 1, 'path': '1', 'name': 'n', 'attempts': 1, 'seconds': 0",
            "'seq': 0, 'path': '1', 'name': 'n', 'attempts': 1, 'seconds': 0, 'result': '1'",
            "'seq': 1, 'path': '1', 'name': 'n', 'attempts': 1, 'seconds': -1, 'result': '1'",
            "'seq': 1, 'path': '1', 'name': 'n', 'attempts': 1, 'seconds': 0, 'result': '1', 'error_type': 'E'",
            "'seq': 1, 'path': '1', 'name': 'n', 'attempts': 1, 'seconds': 0, 'result': '{'",
            "'seq': 1, 'path': '1', 'name': 'n\\u0000', 'attempts': 1, 'seconds': 0, 'result': '1'",
            "'seq': 1, 'path': '1', 'name': '%s', 'attempts': 1, 'seconds': 0, 'result': '1'"
                .formatted("n".repeat(201)),
            "'seq': 1, 'path': '1', 'name': 'n', 'attempts': 1, 'seconds': 0, 'result': '1', 'unknown': 1")) {
      refused(422, "validation_failed", send("step", wrong));
    }
    refused(422, "validation_failed", send("reopen_steps", ""));
    refused(422, "validation_failed", send("reopen_steps", "'steps': [{'seq': 'a'}]"));
    refused(422, "validation_failed", send("drop", ""));
    assertEquals(List.of(), list("").<List<Map<String, Object>>>get("data"));
  }
}
