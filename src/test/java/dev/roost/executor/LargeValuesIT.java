package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Await;
import dev.roost.ChangedFollowerSettings;
import dev.roost.FollowerDatabase;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.db.ThrottledBatches;
import dev.roost.execution.Frame;
import dev.roost.execution.OldExecutorJobs;
import dev.roost.execution.Work;
import dev.roost.file.OldFiles;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Payloads and return values of more than 256 KiB, which are files. */
@QuarkusTest
@TestProfile(ChangedFollowerSettings.class)
@WithTestResource(FollowerDatabase.class)
@Timeout(180)
class LargeValuesIT extends RunningExecution {
  private static final Path DIRECTORY = Path.of("target", "files").toAbsolutePath();
  private static final Path AWAY = DIRECTORY.resolveSibling("files-away");
  private static final int MOST_BYTES = 256 << 10;

  /**
   * Of 4.2 MB, so that it has two parts; its numbers and escapes must come back as they are. The
   * limit of its beginning is within a surrogate pair.
   */
  private static final String LARGE =
      "[1.10,  1e400, \"\\ud83e\", \"" + "ä\uD83E\uDEB6x".repeat(700_000) + "\"]";

  private static final String SMALLER = "[1.10, \"" + "x".repeat(300_000) + "\"]";

  private static final String BEGINNING = LARGE.substring(0, 65_535);

  @Inject dev.roost.file.Files files;

  private int polls = 1;

  @BeforeEach
  void endTheFirstOne() {
    end("1");
  }

  @AfterEach
  void bringTheStorageBack() throws IOException {
    if (Files.exists(AWAY)) {
      if (Files.exists(DIRECTORY)) {
        remove(DIRECTORY);
      }
      Files.move(AWAY, DIRECTORY);
    }
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> found = Files.walk(directory)) {
      for (Path each : found.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  private static String text(int bytes) {
    return "\"" + "x".repeat(bytes - 2) + "\"";
  }

  private String submit(String payload, String... headers) {
    Api.Answer answer =
        api.post(
            "/v1/agents/" + agent + "/execute", "{\"payload\": %s}".formatted(payload), headers);
    return answer.get("id");
  }

  private CompletableFuture<PollAnswer> poll() {
    return dispatcher.poll(executor, new Poll(++polls, true, true), Duration.ofSeconds(30));
  }

  private Work claim() {
    Work work = assertInstanceOf(PollAnswer.Some.class, poll().join()).work();
    execution = work.executionId();
    return work;
  }

  private void end(String value) {
    String escaped = mapper.getNodeFactory().textNode(value).toString();
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
                {"seq": 2, "type": "returned", "time": "%s", "value": %s, "logs_truncated": false,
                 "usage": {"cpu_seconds": 0.1, "max_memory_bytes": 1}}"""
                    .formatted(now, escaped))));
    dispatcher.heard(executor, execution, true);
  }

  private long storedFiles() {
    return rows.count("file where state <> 'removed'");
  }

  /** Whether the text of an answer has the value with its exact text. */
  private static void assertHas(String name, String value, Api.Answer answer) {
    assertEquals(200, answer.status());
    assertTrue(answer.text().contains("\"" + name + "\":" + value), name + " isn't whole");
  }

  @Test
  void aLargePayloadIsAFileWhichNobodyNotices() {
    String id = submit(LARGE);
    assertEquals(BEGINNING, rows.text("select payload from executor_job where id = ?", id));
    assertHas("payload", LARGE, read(id));
    assertHas("payload", LARGE, api.get("/v1/executor-jobs?limit=1"));
    Work work = claim();
    assertEquals(id, work.executorJobId());
    assertEquals(LARGE, work.payload());
    // Its answer was lost.
    assertEquals(LARGE, claim().payload());
    Api.Answer listed = api.get("/v1/executor-jobs/" + id + "/files");
    assertEquals(List.of("payload"), listed.get("data.kind"));
    assertEquals(List.of("payload.json"), listed.get("data.file.name"));
    String file = listed.get("data[0].file.id");
    assertEquals(file, read(id).get("payload_file_id"));
    assertEquals(LARGE, api.get("/v1/files/" + file + "/content").text());
  }

  @Test
  void aLargeReturnValueIsAFileWhichNobodyNotices() {
    String id = submit("null");
    claim();
    String of = execution;
    end(LARGE);
    assertEquals(BEGINNING, rows.text("select return_value from execution where id = ?", of));
    assertHas("return_value", LARGE, read(id));
    assertHas("return_value", LARGE, api.get("/v1/executions/" + of));
    assertHas("return_value", LARGE, api.get("/v1/executions?limit=1"));
    assertHas(
        "return_value", LARGE, api.get("/v1/executions?limit=1&sort=-duration&agent_id=" + agent));
    assertHas("return_value", LARGE, api.get("/v1/executor-jobs?limit=1"));
    Api.Answer listed = api.get("/v1/executor-jobs/" + id + "/files");
    assertEquals(List.of("return_value"), listed.get("data.kind"));
    assertEquals(
        listed.<String>get("data[0].file.id"), read(id).get("execution.return_value_file_id"));
    long before = storedFiles();
    end(LARGE); // The executor sends it again, since it got no answer.
    assertEquals(before, storedFiles());
  }

  @Test
  void whoWaitsGetsAllOfIt() {
    CompletableFuture<Api.Answer> answer =
        CompletableFuture.supplyAsync(
            () ->
                api.post(
                    "/v1/agents/" + agent + "/execute?wait=20",
                    "{\"payload\": %s}".formatted(LARGE)));
    assertEquals(LARGE, claim().payload());
    end(LARGE);
    Api.Answer ended = answer.join();
    assertEquals("succeeded", ended.get("state"));
    assertTrue(ended.text().contains("\"return_value\":" + LARGE));
    assertTrue(ended.text().contains("\"payload\":" + LARGE));
  }

  @Test
  void aPageEndsBeforeItIsTooLarge() {
    String oldest = submit(SMALLER);
    submit(SMALLER);
    submit(SMALLER);
    rows.run(
        "update file set size_bytes = 17000000 where id = ?",
        read(oldest).<String>get("payload_file_id"));
    Api.Answer page = api.get("/v1/executor-jobs?agent_id=" + agent);
    assertEquals(2, page.<List<Object>>get("data").size());
    assertNotNull(page.get("next_cursor"));
  }

  @Test
  void smallerOnesStayInTheDatabase() {
    String most = submit(text(MOST_BYTES));
    assertNull(read(most).get("payload_file_id"));
    assertEquals(text(MOST_BYTES), claim().payload());
    end(text(MOST_BYTES));
    assertNull(read(most).get("execution.return_value_file_id"));
    assertHas("return_value", text(MOST_BYTES), read(most));
    assertNotNull(read(submit(text(MOST_BYTES + 1))).get("payload_file_id"));
  }

  @Test
  void whatIsRefusedOrRepeatedLeavesNoFile() {
    String id = submit(SMALLER, "Idempotency-Key", "k");
    long before = storedFiles();
    assertEquals(id, submit(SMALLER, "Idempotency-Key", "k"));
    String body = "{\"payload\": %s}".formatted(SMALLER);
    assertEquals(404, api.send("POST", "/v1/agents/agent_1/execute", body).status());
    String files = "{\"payload\": %s, \"files\": {\"a\": \"file_1\"}}".formatted(SMALLER);
    assertEquals(422, api.send("POST", "/v1/agents/" + agent + "/execute", files).status());
    String batch = "{\"payloads\": [%s]}".formatted(SMALLER);
    assertEquals(404, api.send("POST", "/v1/agents/agent_1/execute-batch", batch).status());
    assertEquals(before, storedFiles());
    claim();
    String fenced = executor;
    executor = fenced + "0";
    Problem problem = assertThrows(Problem.class, () -> end(SMALLER));
    assertEquals(ErrorCode.FENCED, problem.code());
    assertEquals(before, storedFiles());
  }

  @Test
  void eachJobOfABatchGetsItsOwn() {
    String other = SMALLER.replace('x', 'y');
    String body = "{\"payloads\": [1, %s, 2, %s]}".formatted(SMALLER, other);
    Api.Answer batch = api.post("/v1/agents/" + agent + "/execute-batch", body);
    List<String> ids = batch.get("executor_job_ids");
    for (String expected : List.of("1", SMALLER, "2", other)) {
      assertEquals(expected, claim().payload());
      end("null");
    }
    assertNull(read(ids.get(0)).get("payload_file_id"));
    assertHas("payload", other, read(ids.get(3)));
  }

  @Test
  void copiesOfAJobKeepItsPayload() {
    String id = submit(SMALLER);
    claim();
    end(SMALLER);
    String file = read(id).get("payload_file_id");
    String returned = read(id).get("execution.return_value_file_id");
    String body = "{\"action\": \"run_again\", \"executor_job_ids\": [\"%s\"]}".formatted(id);
    assertEquals(200, api.send("POST", "/v1/executor-jobs/actions", body).status());
    Work again = claim();
    assertEquals(SMALLER, again.payload());
    assertEquals(file, read(again.executorJobId()).get("payload_file_id"));
    ThrottledBatches batches = new ThrottledBatches(database, () -> true);
    rows.run("update executor_job set finished_at = '2001-01-01' where id = ?", id);
    rows.run("delete from execution where executor_job_id = ?", id);
    rows.run("update file set used_at = '2001-01-01' where id in (?, ?)", file, returned);
    OldExecutorJobs.remove(batches, Instant.now().plus(Duration.ofDays(1)));
    OldFiles.remove(batches, Instant.parse("2002-01-01T00:00:00Z"), files);
    assertEquals(404, read(id).status());
    assertEquals(404, api.get("/v1/files/" + returned).status());
    assertHas("payload", SMALLER, read(again.executorJobId()));
  }

  @Test
  void theReturnValueOfACallBecomesTheResultOfItsStep() {
    submit("null");
    claim();
    String caller = execution;
    String callerExecutor = executor;
    String called =
        run("""
            {"op": "call", "seq": 1, "path": "1", "name": "call", "agent": "%s", "payload": %s}"""
                .formatted(agent, SMALLER))
            .path("executor_job_id")
            .asText();
    executor =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(60)))
            .orElseThrow()
            .id;
    Work work = claim();
    assertEquals(called, work.executorJobId());
    assertEquals(SMALLER, work.payload());
    end(SMALLER);
    assertNull(read(called).get("execution.return_value_file_id"));
    assertHas("return_value", SMALLER, read(called));
    execution = caller;
    executor = callerExecutor;
    assertEquals(SMALLER, outcomes().at("/0/result").asText());
  }

  @Test
  void withoutTheStorageTheyStayInTheDatabaseAndNothingIsLost() throws IOException {
    String before = submit(SMALLER);
    Files.move(DIRECTORY, AWAY);
    Files.createFile(DIRECTORY);
    String during = submit(SMALLER);
    assertNull(read(during).get("payload_file_id"));
    assertHas("payload", SMALLER, read(during));
    Api.Answer away = read(before);
    assertEquals(503, away.status(), away.text());
    assertNotNull(away.header("Retry-After"));
    assertThrows(Problem.class, () -> poll().join());
    assertEquals("running", rows.text("select state from executor_job where id = ?", before));
    Files.delete(DIRECTORY);
    // All of it is gone for ever: the directory is another one now.
    assertEquals(SMALLER, claim().payload());
    assertEquals(
        during, rows.text("select executor_job_id from execution where id = ?", execution));
    Api.Answer lost = read(before);
    assertEquals("failed", lost.get("state"));
    assertEquals("payload_lost", lost.get("reason"));
    assertNull(lost.get("payload"));
    assertNotNull(lost.get("payload_file_id"));
    assertEquals(200, api.get("/v1/executor-jobs").status());
    Await.until(
        "large values are files again", () -> read(submit(SMALLER)).get("payload_file_id") != null);
  }
}
