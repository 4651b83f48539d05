package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Many orders at once. Nothing runs here, so they wait. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class BatchIT {
  @Inject EntityManager entities;

  private Api api;
  private String agent;

  @BeforeEach
  void makeAgent() {
    api = Api.as(Role.WRITE);
    agent = api.post("/v1/agents", "{\"script\": \"def main():\\n  return 1\"}").get("id");
  }

  private Answer order(String body, String... headers) {
    return api.post("/v1/agents/" + agent + "/execute-batch", body, headers);
  }

  private List<String> payloads(String batch) {
    String path = "/v1/executor-jobs?limit=200&batch_id=" + batch;
    return api.get(path).<List<Object>>get("data.payload").stream().map(String::valueOf).toList();
  }

  @Test
  void everyPayloadBecomesAJobInItsPlace() {
    Answer answer =
        order(
            "{\"payloads\": [1.10, null, {\"a\": [2]}, \"x\"], \"priority\": 7, \"concurrency_key\": \"k\"}");
    assertEquals(201, answer.status(), answer.text());
    List<String> ids = answer.get("executor_job_ids");
    assertEquals(ids.get(0), answer.get("batch_id"));
    assertEquals(ids.stream().sorted().toList(), ids);
    for (int i = 0; i < 4; i++) {
      Answer job = api.get("/v1/executor-jobs/" + ids.get(i));
      String payload = List.of("1.10", "null", "{\"a\": [2]}", "\"x\"").get(i);
      assertTrue(job.text().contains("\"payload\":" + payload + ","), job.text());
      assertEquals(7, (int) job.get("priority"));
      assertEquals("k", job.get("concurrency_key"));
    }
    assertTrue(Long.parseLong(answer.get("last_event_id")) >= 0);
  }

  @Test
  void theSameKeySubmitsOneJobAlsoConcurrently() throws Exception {
    String body = "{\"payloads\": [1, 2, 3]}";
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<CompletableFuture<Answer>> sent =
          Stream.generate(
                  () ->
                      CompletableFuture.supplyAsync(
                          () -> order(body, "Idempotency-Key", "b1"), threads))
              .limit(8)
              .toList();
      List<Answer> answers = sent.stream().map(CompletableFuture::join).toList();
      assertEquals(1, answers.stream().filter(answer -> answer.status() == 201).count());
      assertEquals(7, answers.stream().filter(answer -> answer.status() == 200).count());
      assertEquals(
          1, answers.stream().map(a -> a.<List<String>>get("executor_job_ids")).distinct().count());
      assertEquals(List.of("3", "2", "1"), payloads(answers.get(0).get("batch_id")));
    } finally {
      threads.shutdown();
    }
    assertEquals(422, order("{\"payloads\": [1, 2]}", "Idempotency-Key", "b1").status());
    assertEquals(
        "idempotency_key_reused",
        api.post("/v1/agents/" + agent + "/execute", "{}", "Idempotency-Key", "b1").get("code"));
  }

  @Test
  void invalidRequestsSubmitNothing() {
    for (String body :
        List.of(
            "{}",
            "{\"payloads\": []}",
            "{\"payloads\": 1}",
            "{\"payloads\": [1], \"priority\": 101}",
            "{\"payloads\": [1], \"concurrency_key\": \"\"}",
            "{\"payloads\": [1], \"priorty\": 1}",
            "{\"payloads\": [" + String.join(",", Collections.nCopies(1_001, "1")) + "]}")) {
      assertEquals(422, order(body).status(), body.substring(0, Math.min(60, body.length())));
    }
    String large = "\"" + "x".repeat(4 << 20) + "\"";
    Answer tooLarge = order("{\"payloads\": [1, " + large + "]}");
    assertEquals(413, tooLarge.status());
    assertTrue(tooLarge.text().contains("payloads/1"), tooLarge.text());
    assertEquals(List.of(), api.get("/v1/executor-jobs?agent_id=" + agent).get("data"));
    assertEquals(
        404, api.post("/v1/agents/agent_none/execute-batch", "{\"payloads\": [1]}").status());
    assertEquals(
        403,
        Api.as(Role.READ)
            .post("/v1/agents/" + agent + "/execute-batch", "{\"payloads\": [1]}")
            .status());
  }

  @Test
  void aBatchIsCancelledAtOnce() {
    List<String> ids = order("{\"payloads\": [1, 2, 3]}").get("executor_job_ids");
    String other = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                entities
                    .createNativeQuery("update executor_job set state = 'running' where id = :id")
                    .setParameter("id", ids.get(0))
                    .executeUpdate());
    String body = "{\"batch_id\": \"" + ids.get(0) + "\", \"running\": %s}";
    Answer waiting = api.post("/v1/executor-jobs/cancel", body.formatted(false));
    assertEquals(List.of(2, 0), List.of(waiting.get("cancelled"), waiting.get("stopping")));
    assertEquals("cancelled", api.get("/v1/executor-jobs/" + ids.get(2)).get("state"));
    assertEquals("queued", api.get("/v1/executor-jobs/" + other).get("state"));
    Answer running = api.post("/v1/executor-jobs/cancel", body.formatted(true));
    assertEquals(List.of(0, 1), List.of(running.get("cancelled"), running.get("stopping")));
    assertEquals(
        404, api.post("/v1/executor-jobs/cancel", "{\"batch_id\": \"xjob_none\"}").status());
    assertEquals(422, api.post("/v1/executor-jobs/cancel", "{}").status());
  }

  private Answer cancel(String body) {
    return api.post("/v1/executor-jobs/cancel", body);
  }

  @Test
  void theJobsOfAnAgentOrOfAllAreCancelledAtOnce() {
    String payloads = String.join(", ", Collections.nCopies(600, "1"));
    order("{\"payloads\": [" + payloads + "]}");
    order("{\"payloads\": [" + payloads + "]}");
    String first = agent;
    makeAgent();
    String other = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");

    Answer answer = cancel("{\"agent_id\": \"" + first + "\", \"running\": false}");
    assertEquals(1_200, answer.<Integer>get("cancelled"));
    assertEquals("queued", api.get("/v1/executor-jobs/" + other).get("state"));
    assertTrue(cancel("{\"all\": true}").<Integer>get("cancelled") >= 1);
    assertEquals("cancelled", api.get("/v1/executor-jobs/" + other).get("state"));
    assertEquals(0, api.get("/v1/executor-jobs/count?state=queued").<Integer>get("count"));

    assertEquals(404, cancel("{\"agent_id\": \"agent_none\"}").status());
    String two = "{\"agent_id\": \"" + agent + "\", \"all\": true}";
    for (String body : List.of("{}", two, "{\"all\": false}")) {
      assertEquals(422, cancel(body).status(), body);
    }
  }
}
