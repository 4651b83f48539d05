package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.execution.Frame;
import dev.roost.execution.FrameIntake;
import dev.roost.execution.Work;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jobs whose first Execution begins with their creation, since an executor waits for them. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class ImmediateJobsIT {
  @Inject Dispatcher dispatcher;
  @Inject FrameIntake intake;
  @Inject ObjectMapper mapper;
  @Inject Database database;

  private Rows rows;
  private Api api;
  private String agent;
  private String executor;
  private int polls;

  /** An executor that has had a job of its agent, and waits. */
  @BeforeEach
  void serveOnce() {
    rows = new Rows(database);
    api = Api.as(Role.WRITE);
    agent = api.post("/v1/agents", "{\"script\": \"def main():\\n  return 1\"}").get("id");
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", agent);
    executor =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(30)))
            .orElseThrow()
            .id;
    submit("{}");
    end(work(poll()));
  }

  private String submit(String options) {
    return api.post("/v1/agents/" + agent + "/execute", options).get("id");
  }

  private CompletableFuture<PollAnswer> poll() {
    return dispatcher.poll(executor, new Poll(++polls, true, true), Duration.ofSeconds(30));
  }

  private static Work work(CompletableFuture<PollAnswer> poll) {
    PollAnswer answer = poll.orTimeout(20, TimeUnit.SECONDS).join();
    return assertInstanceOf(PollAnswer.Some.class, answer).work();
  }

  private void end(Work work) {
    Instant now = Instant.now();
    intake.take(
        executor,
        work.executionId(),
        List.of(
            frame("{\"seq\": 1, \"type\": \"started\", \"time\": \"%s\"}".formatted(now)),
            frame(
                """
                {"seq": 2, "type": "returned", "time": "%s", "value": "1", "logs_truncated": false,
                 "usage": {"cpu_seconds": 0.1, "max_memory_bytes": 1}}"""
                    .formatted(now))));
    dispatcher.heard(executor, work.executionId(), true);
  }

  private Frame frame(String text) {
    return Frame.parse(mapper, text);
  }

  private Api.Answer job(String id) {
    return api.get("/v1/executor-jobs/" + id);
  }

  private String events(String job) {
    return rows.text(
        "select string_agg(substring(type from '[a-z]+$') || ' ' || (data::json ->> 'attempts') || ' '"
            + " || coalesce(data::json ->> 'execution_id', '-'), ', ' order by id) from event where subject = ?",
        job);
  }

  @Test
  void theFirstExecutionBeginsWithTheJob() {
    CompletableFuture<PollAnswer> waits = poll();
    String id = submit("{\"payload\": {\"a\": 1}, \"priority\": 7}");
    Work work = work(waits);
    assertEquals(id, work.executorJobId());
    assertEquals("{\"a\": 1}", work.payload());
    assertEquals(1, work.attempt());
    assertEquals("running", job(id).get("state"));
    assertEquals(7, job(id).<Integer>get("priority"));
    assertEquals(
        "true",
        rows.text(
            "select cast(j.created_at = e.started_at and e.queued_seconds = 0 and not e.cold_start as text)"
                + " from execution e join executor_job j on j.latest_execution_id = e.id where j.id = ?",
            id));
    end(work);
    assertEquals("succeeded", job(id).get("state"));
    String execution = work.executionId();
    assertEquals(
        "queued 0 -, running 1 %1$s, succeeded 1 %1$s".formatted(execution),
        events(id),
        "the events of a job that was queued first");
  }

  @Test
  void whoWaitsGetsWhatIsStored() {
    CompletableFuture<PollAnswer> waits = poll();
    CompletableFuture<Api.Answer> answer =
        CompletableFuture.supplyAsync(
            () -> api.post("/v1/agents/" + agent + "/execute?wait=20", "{\"payload\": [\"ä\"]}"));
    end(work(waits));
    Api.Answer ended = answer.join();
    assertEquals("succeeded", ended.get("state"));
    assertEquals(1, ended.<Integer>get("execution.return_value"));
    assertEquals(job(ended.get("id")).<Map<String, Object>>get(""), ended.get(""));
  }

  @Test
  void aJobIsQueuedIfOthersAre() {
    submit("{\"concurrency_key\": \"a\"}");
    Work first = work(poll());
    String blocked = submit("{\"concurrency_key\": \"a\"}");
    // As if another executor had it: its key stays taken.
    rows.run(
        "update execution set executor_id = 'another', slot = 2 where id = ?", first.executionId());
    dispatcher.heard(executor, first.executionId(), true);
    CompletableFuture<PollAnswer> waits = poll();
    assertFalse(waits.isDone());
    String id = submit("{}");
    assertEquals(id, work(waits).executorJobId());
    assertEquals("queued", job(blocked).get("state"));
  }

  @Test
  void aRepeatedRequestLeavesTheExecutorWaiting() {
    String path = "/v1/agents/" + agent + "/execute";
    CompletableFuture<PollAnswer> waits = poll();
    String id = api.post(path, "{}", "Idempotency-Key", "k").get("id");
    end(work(waits));
    CompletableFuture<PollAnswer> again = poll();
    assertEquals(id, api.post(path, "{}", "Idempotency-Key", "k").get("id"));
    assertFalse(again.isDone());
    String next = submit("{}");
    assertEquals(next, work(again).executorJobId());
  }

  @Test
  void anExecutorThatIsToStopGetsNothing() {
    CompletableFuture<PollAnswer> waits = poll();
    rows.run("update executor set state = 'stopping' where id = ?", executor);
    String id = submit("{}");
    assertEquals("queued", job(id).get("state"));
    assertTrue(waits.isDone());
    assertFalse(waits.join() instanceof PollAnswer.Some);
    assertEquals("queued 0 -", events(id));
  }

  @Test
  void anExecutorOfAnotherRevisionGetsNothing() {
    CompletableFuture<PollAnswer> waits = poll();
    rows.run(
        """
        insert into agent_revision
        select (jsonb_populate_record(r, '{"revision": 2}')).* from agent_revision r where r.agent_id = ?""",
        agent);
    rows.run("update agent set running_revision = 2 where id = ?", agent);
    String id = submit("{}");
    assertEquals(
        "2 queued",
        rows.text("select agent_revision || ' ' || state from executor_job where id = ?", id));
    assertFalse(waits.isDone());
  }
}
