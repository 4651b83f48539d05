package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Body;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.execution.Frame;
import dev.roost.execution.FrameIntake;
import dev.roost.execution.StepOperations;
import dev.roost.execution.SuspendedJobs;
import dev.roost.execution.Work;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jobs whose scripts sleep without a process. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class SuspendedJobsIT {
  private static final String LATER = "2101-01-01T00:00:00.000000Z";

  @Inject Dispatcher dispatcher;
  @Inject FrameIntake intake;
  @Inject StepOperations steps;
  @Inject SuspendedJobs suspended;
  @Inject Demand demand;
  @Inject ObjectMapper mapper;
  @Inject Database database;

  private Rows rows;
  private Api api;
  private String agent;
  private String executor;
  private String job;
  private String execution;
  private int polls;

  @BeforeEach
  void startAnExecution() {
    rows = new Rows(database);
    api = Api.as(Role.WRITE);
    agent =
        api.post(
                "/v1/agents",
                "{\"script\": \"def main():\\n  return 1\", \"max_attempts\": 2, \"retry_delay\": 0}")
            .get("id");
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", agent);
    executor =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(60)))
            .orElseThrow()
            .id;
    job = api.post("/v1/agents/" + agent + "/execute", "{\"concurrency_key\": \"k\"}").get("id");
    claim();
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

  private void timer(int seq, String until) {
    String body =
        "{\"op\": \"timer\", \"seq\": %d, \"path\": \"%d\", \"name\": \"sleep\", \"until\": \"%s\"}"
            .formatted(seq, seq, until);
    steps.run(executor, execution, Body.parse(body.getBytes(StandardCharsets.UTF_8)));
  }

  private void send(String last) {
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
                    .formatted(now, last))));
    dispatcher.heard(executor, execution, true);
  }

  private void suspend(String waits) {
    send("\"type\": \"suspended\", \"waits\": " + waits);
  }

  private Api.Answer read() {
    return api.get("/v1/executor-jobs/" + job);
  }

  private void due() {
    rows.run("update executor_job_step set until = now() where executor_job_id = ?", job);
    rows.run("update executor_job set resume_at = now() where id = ?", job);
    suspended.pass();
  }

  @Test
  void aJobIsSuspendedUntilTheFirstOfItsWaitsIsOver() {
    timer(1, LATER);
    timer(2, "2100-01-01T00:00:00Z");
    timer(3, "2099-01-01T00:00:00Z");
    suspend("[1, 2]");
    Api.Answer suspended = read();
    assertEquals("suspended", suspended.get("state"));
    assertEquals("timer", suspended.get("waiting_on"));
    assertEquals("2100-01-01T00:00:00.000000Z", suspended.get("resume_at"));
    assertNull(suspended.get("finished_at"));
    assertEquals(1, suspended.<Integer>get("attempts"));
    assertEquals("suspended", suspended.get("execution.state"));
    assertNotNull(suspended.get("execution.finished_at"));
    Api.Answer listed = api.get("/v1/executor-jobs/" + job + "/steps");
    assertEquals(List.of("waiting", "waiting", "waiting"), listed.get("data.state"));
    assertEquals(LATER, listed.get("data[0].until"));
  }

  @Test
  void anotherExecutionOfTheSameAttemptContinues() {
    timer(1, LATER);
    suspend("[1]");
    String first = execution;
    // It takes neither the executor nor the concurrency key.
    String other =
        api.post("/v1/agents/" + agent + "/execute", "{\"concurrency_key\": \"k\"}").get("id");
    assertEquals(other, claim().executorJobId());
    send("\"type\": \"returned\", \"value\": \"1\"");
    due();
    Work work = claim();
    assertEquals(job, work.executorJobId());
    assertTrue(work.hasSteps());
    assertEquals(1, work.attempt());
    assertFalse(first.equals(execution));
    assertEquals("running", read().get("state"));
    assertNull(read().get("resume_at"));
    assertEquals("succeeded", api.get("/v1/executor-jobs/" + job + "/steps").get("data[0].state"));
    // A failure is the first attempt's.
    send(
        "\"type\": \"failed\", \"state\": \"failed\", \"reason\": \"exception\", \"message\": \"m\"");
    assertEquals(2, claim().attempt());
    send("\"type\": \"returned\", \"value\": \"1\"");
    assertEquals("succeeded", read().get("state"));
    assertEquals(2, read().<Integer>get("attempts"));
    assertEquals(
        "queued, running, suspended, queued, running, queued, running, succeeded",
        rows.text(
            "select string_agg(substring(type from '[a-z]+$'), ', ' order by id) from event where subject = ?",
            job));
  }

  @Test
  void aSuspendedJobIsCancelledAtOnce() {
    timer(1, LATER);
    suspend("[1]");
    api.post("/v1/executor-jobs/" + job + "/cancel", null);
    Api.Answer cancelled = read();
    assertEquals("cancelled", cancelled.get("state"));
    assertNull(cancelled.get("resume_at"));
    assertNull(cancelled.get("waiting_on"));
    assertNotNull(cancelled.get("finished_at"));
  }

  @Test
  void aCancellationDuringTheLastMomentsIsNotLost() {
    timer(1, LATER);
    api.post("/v1/executor-jobs/" + job + "/cancel", null);
    suspend("[1]");
    assertEquals("cancelled", read().get("state"));
    assertEquals("cancelled", read().get("reason"));
  }

  @Test
  void theJobsOfADeletedAgentDontContinue() {
    timer(1, LATER);
    suspend("[1]");
    assertEquals(204, api.send("DELETE", "/v1/agents/" + agent, null).status());
    assertEquals("cancelled", read().get("state"));
  }

  @Test
  void manyAreCancelledTogether() {
    timer(1, LATER);
    suspend("[1]");
    String queued = "{\"agent_id\": \"%s\", \"running\": false}".formatted(agent);
    assertEquals(0, api.post("/v1/executor-jobs/cancel", queued).<Integer>get("cancelled"));
    assertEquals("suspended", read().get("state"));
    Api.Answer answer =
        api.post("/v1/executor-jobs/cancel", "{\"agent_id\": \"%s\"}".formatted(agent));
    assertEquals(1, answer.<Integer>get("cancelled"), answer.text());
    assertEquals("cancelled", read().get("state"));
  }

  @Test
  void aScriptThatForgesItsWaitsContinuesASecondLater() {
    timer(1, LATER);
    suspend("[7]");
    suspended.pass();
    assertEquals("suspended", read().get("state"));
    rows.run("update executor_job set resume_at = resume_at - interval '1 s' where id = ?", job);
    suspended.pass();
    assertEquals(job, claim().executorJobId());
  }

  /** A new job with the key k, of an agent whose jobs hold their keys, has begun. */
  private void holdTheKey() {
    api.patch("/v1/agents/" + agent, "{\"concurrency_key_scope\": \"job\"}");
    send("\"type\": \"returned\", \"value\": \"1\"");
    job = submit("{\"concurrency_key\": \"k\"}");
    assertEquals(job, claim().executorJobId());
  }

  private String submit(String options) {
    return api.post("/v1/agents/" + agent + "/execute", options).get("id");
  }

  private PollAnswer poll() {
    return dispatcher.poll(executor, new Poll(++polls, true, true), Duration.ofMillis(20)).join();
  }

  private int waiting() {
    return QuarkusTransaction.requiringNew().call(() -> demand.read(Instant.now())).stream()
        .filter(waiting -> waiting.target().agentId().equals(agent))
        .mapToInt(Demand.Waiting::waiting)
        .sum();
  }

  @Test
  void aJobMayHoldItsKeyUntilItEnds() {
    assertEquals("execution", api.get("/v1/agents/" + agent).get("concurrency_key_scope"));
    holdTheKey();
    timer(1, LATER);
    suspend("[1]");
    String other = submit("{\"concurrency_key\": \"k\", \"priority\": 100}");
    assertInstanceOf(PollAnswer.None.class, poll());
    assertEquals("concurrency", api.get("/v1/executor-jobs/" + other).get("waiting_on"));
    assertEquals(0, waiting(), "no executor is needed");
    String passes = submit("{\"concurrency_key\": \"another\"}");
    assertEquals(1, waiting());
    assertEquals(passes, claim().executorJobId());
    send("\"type\": \"returned\", \"value\": \"1\"");
    // Due, tried again: the other job has a higher priority, and still waits.
    due();
    assertEquals(1, waiting());
    assertEquals(job, claim().executorJobId());
    send(
        "\"type\": \"failed\", \"state\": \"failed\", \"reason\": \"exception\", \"message\": \"m\"");
    Work again = claim();
    assertEquals(job, again.executorJobId());
    assertEquals(2, again.attempt());
    send("\"type\": \"returned\", \"value\": \"1\"");
    assertEquals(other, claim().executorJobId());
  }

  @Test
  void aHeldKeyIsFreeAtOnceWhenItsJobIsCancelled() {
    holdTheKey();
    timer(1, LATER);
    suspend("[1]");
    Api.Answer batch =
        api.post(
            "/v1/agents/" + agent + "/execute-batch",
            "{\"payloads\": [1], \"concurrency_key\": \"k\"}");
    String second = batch.get("executor_job_ids[0]");
    var waits = dispatcher.poll(executor, new Poll(++polls, true, true), Duration.ofSeconds(60));
    api.post("/v1/executor-jobs/" + job + "/cancel", "{}");
    Work work = assertInstanceOf(PollAnswer.Some.class, waits.getNow(null)).work();
    assertEquals(second, work.executorJobId());
    execution = work.executionId();
    timer(1, LATER);
    suspend("[1]");
    String third = submit("{\"concurrency_key\": \"k\"}");
    waits = dispatcher.poll(executor, new Poll(++polls, true, true), Duration.ofSeconds(60));
    String batchId = batch.get("batch_id");
    api.post("/v1/executor-jobs/cancel", "{\"batch_id\": \"%s\"}".formatted(batchId));
    assertEquals(
        third, assertInstanceOf(PollAnswer.Some.class, waits.getNow(null)).work().executorJobId());
  }

  @Test
  void theAgentsSettingReleasesItsKeys() {
    holdTheKey();
    timer(1, LATER);
    suspend("[1]");
    String other = submit("{\"concurrency_key\": \"k\"}");
    assertInstanceOf(PollAnswer.None.class, poll());
    api.patch("/v1/agents/" + agent, "{\"concurrency_key_scope\": \"execution\"}");
    assertEquals(other, claim().executorJobId());
    due();
    send("\"type\": \"returned\", \"value\": \"1\"");
    assertEquals(job, claim().executorJobId());
  }

  private String call(String executor, String execution, int seq, String agent, String key) {
    String body =
        "{\"op\": \"call\", \"seq\": %1$d, \"path\": \"%1$d\", \"name\": \"c\", \"agent\": \"%2$s\", \"payload\": 1, \"concurrency_key\": \"%3$s\"}"
            .formatted(seq, agent, key);
    Object answer =
        steps.run(executor, execution, Body.parse(body.getBytes(StandardCharsets.UTF_8)));
    return (String) ((Map<?, ?>) answer).get("executor_job_id");
  }

  @Test
  void noJobIsCalledThatWouldWaitForItsCaller() {
    holdTheKey();
    Problem own = assertThrows(Problem.class, () -> call(executor, execution, 1, agent, "k"));
    assertTrue(own.getMessage().contains("the job " + job + " holds"), own.getMessage());
    call(executor, execution, 1, agent, "of its own");

    // A circle of two: this job waits for one that waits for the key of a job of another agent.
    String other =
        api.post(
                "/v1/agents",
                "{\"script\": \"def main():\\n  return 1\", \"concurrency_key_scope\": \"job\"}")
            .get("id");
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", other);
    String second =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.make(other, 1, "build_", Instant.now(), Duration.ofSeconds(60)))
            .orElseThrow()
            .id;
    String holder =
        api.post("/v1/agents/" + other + "/execute", "{\"concurrency_key\": \"m\"}").get("id");
    Work held =
        assertInstanceOf(
                PollAnswer.Some.class,
                dispatcher.poll(second, new Poll(1, true, true), Duration.ofSeconds(30)).join())
            .work();
    assertEquals(holder, held.executorJobId());
    call(executor, execution, 2, other, "m");
    Problem circle =
        assertThrows(Problem.class, () -> call(second, held.executionId(), 1, agent, "k"));
    assertTrue(circle.getMessage().contains("the job " + job + " holds"), circle.getMessage());
    call(second, held.executionId(), 1, agent, "free");
    // Nothing waits for ever when jobs have their keys no longer than their executions.
    api.patch("/v1/agents/" + agent, "{\"concurrency_key_scope\": \"execution\"}");
    call(executor, execution, 3, agent, "k");
  }
}
