package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.api.Body;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.execution.Frame;
import dev.roost.execution.FrameIntake;
import dev.roost.execution.StepOperations;
import dev.roost.execution.SuspendedJobs;
import dev.roost.execution.Work;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

/** Tests of what the script of a running execution waits for; they do what its executor does. */
abstract class RunningExecution {
  @Inject Dispatcher dispatcher;
  @Inject FrameIntake intake;
  @Inject StepOperations steps;
  @Inject SuspendedJobs suspended;
  @Inject ObjectMapper mapper;
  @Inject Database database;

  Rows rows;
  Api api;
  String agent;
  String executor;
  String job;
  String execution;

  @BeforeEach
  void startAnExecution() {
    rows = new Rows(database);
    api = Api.as(Role.WRITE);
    start();
  }

  /** A new job of a new agent, whose execution the tests are about from now on. */
  void start() {
    agent = agent();
    executor =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(60)))
            .orElseThrow()
            .id;
    job = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");
    Work work =
        assertInstanceOf(
                PollAnswer.Some.class,
                dispatcher.poll(executor, new Poll(1, true, true), Duration.ofSeconds(30)).join())
            .work();
    execution = work.executionId();
  }

  String agent() {
    String id = api.post("/v1/agents", "{\"script\": \"def main():\\n  return 1\"}").get("id");
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", id);
    return id;
  }

  JsonNode run(String body) {
    Object answer =
        steps.run(executor, execution, Body.parse(body.getBytes(StandardCharsets.UTF_8)));
    return mapper.valueToTree(answer);
  }

  JsonNode outcomes() {
    return run("{\"op\": \"outcomes\", \"waits\": [{\"seq\": 1}, {\"seq\": 2}, {\"seq\": 3}]}")
        .path("outcomes");
  }

  void suspend(String waits, boolean all) {
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
                {"seq": 2, "type": "suspended", "time": "%s", "logs_truncated": false, "waits": %s, "all": %s,
                 "usage": {"cpu_seconds": 0.1, "max_memory_bytes": 1}}"""
                    .formatted(now, waits, all))));
    dispatcher.heard(executor, execution, true);
  }

  Api.Answer read(String id) {
    return api.get("/v1/executor-jobs/" + id);
  }

  void cancel(String id) {
    assertEquals(200, api.send("POST", "/v1/executor-jobs/" + id + "/cancel", null).status());
  }
}
