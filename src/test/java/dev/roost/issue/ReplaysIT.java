package dev.roost.issue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.issue.FailedRows.Failed;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The jobs of an issue run again. No runtime runs here, so new jobs wait until a test ends them.
 */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class ReplaysIT {
  @Inject Database database;

  private Api api;
  private FailedRows rows;
  private Failed first;
  private Failed second;
  private String issue;

  @BeforeEach
  void begin() {
    api = Api.as(Role.WRITE);
    rows = new FailedRows(database, api);
    first = rows.fail("order 1 has no price");
    second = rows.fail("order 2 has no price");
    rows.issueOf(first);
    issue = rows.issueOf(second);
  }

  private Answer replay(String body, String... headers) {
    return replayOf(issue, body, headers);
  }

  private Answer replayOf(String id, String body, String... headers) {
    Answer answer = api.post("/v1/issues/" + id + "/replay", body, headers);
    assertTrue(answer.status() < 300, answer.text());
    return answer;
  }

  @Test
  void jobsRunAgainAsTheyWereStoredWithTheRunningRevision() {
    api.patch("/v1/agents/" + rows.agent, "{\"script\": \"def main(): return 1\"}");
    rows.rows().run("update agent set running_revision = 2 where id = ?", rows.agent);
    Answer answer = replay("{}");
    assertEquals(201, answer.status());
    assertEquals(2, (int) answer.get("count"));
    assertEquals(List.of(first.job(), second.job()), answer.get("jobs.executor_job_id"));
    assertFalse(answer.<Boolean>get("more"));
    List<String> made = answer.get("jobs.replayed_as");
    assertEquals(made.get(0), answer.get("batch_id"));
    for (String id : made) {
      Answer job = api.get("/v1/executor-jobs/" + id);
      assertTrue(job.text().contains("\"payload\":{\"price\": 1.10},"), job.text());
      assertEquals(2, (int) job.get("agent_revision"));
      assertEquals(7, (int) job.get("priority"));
      assertEquals("k", job.get("concurrency_key"));
      assertEquals("queued", job.get("state"));
    }
  }

  @Test
  void whatHasSucceededSinceOrWaitsIsLeftOut() {
    List<String> made = replay("{}").get("jobs.replayed_as");
    Answer again = replay("{}");
    assertEquals(200, again.status());
    assertEquals(2, (int) again.get("pending"));
    assertNull(again.get("batch_id"));

    rows.end(made.get(0), "succeeded");
    rows.end(made.get(1), "cancelled");
    Answer third = replay("{}");
    assertEquals(1, (int) third.get("succeeded"));
    assertEquals(List.of(made.get(1)), third.get("jobs.executor_job_id"));

    rows.end(third.get("jobs[0].replayed_as"), "succeeded");
    assertEquals(0, (int) replay("{}").get("count"));
    assertEquals(2, (int) replay("{\"include_succeeded\": true}").get("count"));
  }

  @Test
  void aJobThatSucceededInALaterAttemptIsLeftOut() {
    rows.end(first.job(), "succeeded");
    assertEquals(List.of(second.job()), replay("{}").get("jobs.executor_job_id"));
  }

  @Test
  void aPreviewSubmitsNothing() {
    Answer preview = replay("{\"preview\": true}");
    assertEquals(200, preview.status());
    assertEquals(2, (int) preview.get("count"));
    assertTrue(preview.<Boolean>get("preview"));
    assertEquals(Collections.nCopies(2, null), preview.get("jobs.replayed_as"));
    assertEquals(
        List.of(), api.get("/v1/executor-jobs?state=queued&agent_id=" + rows.agent).get("data.id"));
  }

  @Test
  void someJobsByIdentifierTimeOrNumber() {
    assertEquals(
        List.of(second.job()),
        replay("{\"executor_job_ids\": [\"%s\"]}".formatted(second.job()))
            .get("jobs.executor_job_id"));
    Instant later = Instant.now().plusSeconds(60);
    Failed third = rows.fail("order 3 has no price", 1, later);
    rows.issueOf(third);
    assertEquals(
        List.of(third.job()),
        replay("{\"preview\": true, \"since\": \"%s\"}".formatted(later.minusSeconds(1)))
            .get("jobs.executor_job_id"));
    assertEquals(
        List.of(first.job()),
        replay("{\"preview\": true, \"until\": \"%s\"}".formatted(later.minusSeconds(1)))
            .get("jobs.executor_job_id"));
    Answer one = replay("{\"limit\": 1}");
    assertEquals(List.of(first.job()), one.get("jobs.executor_job_id"));
    assertTrue(one.<Boolean>get("more"));
    assertFalse(replay("{\"limit\": 1}").<Boolean>get("more"));
    // Of another issue.
    Failed other = rows.fail("no customer");
    rows.issueOf(other);
    assertEquals(
        0, (int) replay("{\"executor_job_ids\": [\"%s\"]}".formatted(other.job())).get("count"));
  }

  @Test
  void aRepeatedRequestNamesTheSameJobs() {
    Answer answer = replay("{\"limit\": 2}", "Idempotency-Key", "r1");
    rows.end(answer.get("jobs[0].replayed_as"), "failed");
    Answer repeated = replay("{\"limit\": 2}", "Idempotency-Key", "r1");
    assertEquals(200, repeated.status());
    assertEquals(answer.<Object>get("jobs"), repeated.get("jobs"));
    assertEquals(answer.<String>get("batch_id"), repeated.get("batch_id"));
    Answer reused =
        api.post("/v1/issues/" + issue + "/replay", "{\"limit\": 1}", "Idempotency-Key", "r1");
    assertEquals("idempotency_key_reused", reused.get("code"));
  }

  @Test
  void simultaneousReplaysSubmitEachJobOnce() {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<CompletableFuture<Answer>> sent =
          Stream.generate(() -> CompletableFuture.supplyAsync(() -> replay("{}"), threads))
              .limit(8)
              .toList();
      List<Answer> answers = sent.stream().map(CompletableFuture::join).toList();
      assertEquals(1, answers.stream().filter(answer -> answer.status() == 201).count());
      assertEquals(2, answers.stream().mapToInt(answer -> answer.get("count")).sum());
    } finally {
      threads.shutdownNow();
    }
  }

  /** A replay fails for another cause: one job, and two issues that could run it. */
  @Test
  void aJobOfTwoIssuesIsRunOnce() {
    String made =
        replay("{\"executor_job_ids\": [\"%s\"]}".formatted(first.job()))
            .get("jobs[0].replayed_as");
    Failed failedAgain = rows.fail(made, "no customer", 2, Instant.now());
    String other = rows.issueOf(failedAgain);
    assertEquals(List.of(made), replayOf(other, "{}").get("jobs.executor_job_id"));
    Answer here = replay("{}");
    assertEquals(List.of(second.job()), here.get("jobs.executor_job_id"));
    assertEquals(1, (int) here.get("pending"));
  }

  @Test
  void mistakesAreNamed() {
    for (String body :
        List.of(
            "{\"executor_job_ids\": []}",
            "{\"limit\": 0}",
            "{\"limit\": 1001}",
            "{\"since\": \"yesterday\"}",
            "{\"all\": true}",
            "{\"preview\": 1}")) {
      assertEquals(422, api.post("/v1/issues/" + issue + "/replay", body).status(), body);
    }
    assertEquals(404, api.post("/v1/issues/issue_0/replay", "{}").status());
  }
}
