package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jobs that scripts submit and wait for. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class JobCallsIT extends RunningExecution {
  private String callee;

  @BeforeEach
  void makeAnAgentToCall() {
    callee = agent();
  }

  private String call(int seq, String target, String payload) {
    return run("""
            {"op": "call", "seq": %d, "path": "%d", "name": "call", "agent": "%s", "payload": %s}"""
            .formatted(seq, seq, target, payload))
        .path("executor_job_id")
        .asText();
  }

  @Test
  void aCallSubmitsOneJob() {
    String called = call(1, callee, "{\"n\": 1.0}");
    assertEquals(called, call(1, callee, "{\"n\": 1.0}"), "a repeated request");
    assertEquals(called, call(1, callee, "2"), "of a script that calls with the time, say");
    Api.Answer there = read(called);
    assertEquals(callee, there.get("agent_id"));
    assertEquals(job, there.get("parent_id"));
    assertTrue(there.text().contains("{\"n\": 1.0}"), there.text());
    assertNull(read(job).get("parent_id"));
    Api.Answer listed = api.get("/v1/executor-jobs?parent_id=" + job);
    assertEquals(List.of(called), listed.get("data.id"));
    Api.Answer history = api.get("/v1/executor-jobs/" + job + "/steps");
    assertEquals("call", history.get("data[0].kind"));
    assertEquals("waiting", history.get("data[0].state"));
    assertEquals(called, history.get("data[0].called_job_id"));
    assertEquals(0, outcomes().size());
  }

  @Test
  void theOutcomeOfTheJobIsThatOfTheCall() {
    String called = call(1, callee, "null");
    String other = call(2, callee, "null");
    rows.run(
        "update executor_job set state = 'failed', reason = 'exception', message = 'KeyError: 1', finished_at = now() where id = ?",
        called);
    JsonNode failed = outcomes();
    assertEquals(1, failed.size());
    assertEquals(
        "the job " + called + " failed: KeyError: 1", failed.at("/0/error/message").asText());
    assertEquals(
        "[\"%s\", \"failed\", \"exception\", \"KeyError: 1\"]".formatted(called),
        failed.at("/0/error/arguments").asText());
    assertEquals(failed, outcomes(), "it is stored");
    // Also when the job is there no more.
    rows.run("delete from executor_job where id = ?", called);
    assertEquals(failed, outcomes());
    cancel(other);
    assertEquals(
        "the job " + other + " was cancelled: Cancelled before it started.",
        outcomes().at("/1/error/message").asText());
  }

  @Test
  void whatHasEndedMeanwhileIsNotWaitedFor() {
    String called = call(1, callee, "null");
    call(2, callee, "null");
    cancel(called);
    suspend("[1, 2]", false);
    assertNotNull(read(job).get("resume_at"));
    suspended.pass();
    assertEquals("queued", read(job).get("state"));
  }

  @Test
  void oneOfAllIsNotEnough() {
    String called = call(1, callee, "null");
    call(2, callee, "null");
    cancel(called);
    suspend("[1, 2]", true);
    assertNull(read(job).get("resume_at"));
    suspended.pass();
    assertEquals("suspended", read(job).get("state"));
    assertEquals("call", read(job).get("waiting_on"));
  }

  @Test
  void whatAnEndedJobHasCalledIsCancelled() {
    String called = call(1, callee, "null");
    suspend("[1]", true);
    suspended.pass();
    assertEquals("queued", read(called).get("state"));
    cancel(job);
    suspended.pass();
    assertEquals("cancelled", read(called).get("state"));
  }

  @Test
  void wrongCallsSubmitNothing() {
    assertEquals(ErrorCode.VALIDATION_FAILED, refused(callee + "0", "null").code());
    rows.run("update executor_job set depth = 100 where id = ?", job);
    Problem deep = refused(callee, "null");
    assertEquals(ErrorCode.TOO_LARGE, deep.code());
    assertTrue(deep.getMessage().contains("roost.limits.call-depth"), deep.getMessage());
    rows.run("update executor_job set depth = 0 where id = ?", job);
    assertEquals(204, api.send("DELETE", "/v1/agents/" + callee, null).status());
    assertEquals(ErrorCode.VALIDATION_FAILED, refused(callee, "null").code());
    assertEquals(0, rows.count("executor_job where parent_id = ?", job));
    assertEquals(0, rows.count("executor_job_step where executor_job_id = ?", job));
  }

  @Test
  void aPayloadThatDoesNotMatchTheSchemaOfTheCalledAgentIsRefused() {
    assertEquals(
        200,
        api.patch("/v1/agents/" + callee, "{\"input_schema\": {\"required\": [\"url\"]}}")
            .status());
    Problem problem = refused(callee, "{}");
    assertEquals(ErrorCode.VALIDATION_FAILED, problem.code());
    assertEquals("url is required.", problem.getMessage());
    assertEquals("/payload/url", problem.errors().get(0).pointer());
    assertEquals(0, rows.count("executor_job where parent_id = ?", job));
    call(1, callee, "{\"url\": \"x\"}");
    assertEquals(1, rows.count("executor_job where parent_id = ?", job));
  }

  private Problem refused(String target, String payload) {
    return assertThrows(Problem.class, () -> call(1, target, payload));
  }

  @Test
  void anEndedExecutionCannotCall() {
    cancel(job);
    suspend("[]", false);
    assertEquals("cancelled", read(job).get("state"));
    assertEquals(ErrorCode.FENCED, refused(callee, "null").code());
    assertEquals(0, rows.count("executor_job where agent_id = ?", callee));
  }
}
