package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.api.Storage;
import dev.roost.db.Database;
import dev.roost.execution.Frame;
import dev.roost.execution.FrameIntake;
import dev.roost.execution.FrameLimits;
import dev.roost.execution.Work;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.io.IOException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is refused while storage is full, and what isn't. */
@QuarkusTest
@TestProfile(StorageIT.Limited.class)
@WithTestResource(FollowerDatabase.class)
@Timeout(180)
class StorageIT {
  private static final int LIMIT = 2_000_000;

  @Inject Storage storage;
  @Inject Dispatcher dispatcher;
  @Inject Demand demand;
  @Inject FrameIntake intake;
  @Inject ObjectMapper mapper;
  @Inject Database database;

  private Rows rows;
  private Api api;
  private String agent;
  private String executor;
  private int polls;

  /** Limits that a test can reach. */
  public static class Limited implements QuarkusTestProfile {
    @Override
    public Map<String, String> getConfigOverrides() {
      String limit = Integer.toString(LIMIT);
      return Map.of(
          "roost.storage.log-bytes", limit,
          "roost.storage.payload-bytes", limit,
          "roost.storage.store-bytes", limit);
    }
  }

  @BeforeEach
  void makeAgent() {
    rows = new Rows(database);
    api = Api.as(Role.WRITE);
    agent = api.post("/v1/agents", "{\"script\": \"def main():\\n  return 1\"}").get("id");
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", agent);
    executor =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(300)))
            .orElseThrow()
            .id;
  }

  @AfterEach
  void empty() throws IOException {
    run(
        "delete from log_entry",
        "delete from executor_job where agent_id = 'agent_other'",
        "delete from datastore_entry");
    storage.measure();
    assertNull(storage.usage().full());
  }

  /** And lets PostgreSQL count the pieces of long values at once. */
  private void run(String... statements) {
    database.once(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
              statement.execute(sql);
            }
            statement.execute("select pg_stat_force_next_flush()");
          }
          return null;
        });
  }

  private void fillLogs() throws IOException {
    rows.run(
        """
        insert into log_entry (owner_id, seq, time, stream, message, continued)
        select 'exec_other', i, now(), 'stdout', repeat('x', 1000), false from generate_series(1, 2000) i""");
    storage.measure();
  }

  private void fillPayloads() throws IOException {
    // Long enough to be kept apart, and not to be compressed.
    run(
        """
        insert into executor_job (id, agent_id, agent_revision, state, created_at, payload)
        select 'xjob_other' || i, 'agent_other', 1, 'succeeded', now(),
          (select '"' || string_agg(md5(random()::text || i || k), '') || '"' from generate_series(1, 1000) k)
        from generate_series(1, 100) i""");
    storage.measure();
  }

  private PollAnswer poll() {
    return dispatcher.poll(executor, new Poll(++polls, true, true), Duration.ofMillis(20)).join();
  }

  private Work start() {
    String job = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");
    Work work = assertInstanceOf(PollAnswer.Some.class, poll()).work();
    assertEquals(job, work.executorJobId());
    return work;
  }

  private Frame frame(int seq, String text) {
    return Frame.parse(
        mapper, "{\"seq\": %d, \"time\": \"2026-11-23T03:00:00Z\", %s}".formatted(seq, text));
  }

  private Frame log(int seq, int entry) {
    return frame(
        seq,
        "\"type\": \"log\", \"entries\": [{\"seq\": %d, \"time\": \"2026-11-23T03:00:00Z\", \"stream\": \"stdout\", \"message\": \"line\"}]"
            .formatted(entry));
  }

  private void isRefused(Api.Answer answer, String setting) {
    assertEquals(507, answer.status(), answer.text());
    assertEquals("storage_full", answer.get("code"));
    assertTrue(answer.text().contains("roost.storage." + setting), answer.text());
  }

  @Test
  void whatTablesHoldIsEstimatedAndFallsWhenRowsGo() throws IOException {
    long before = storage.usage().logBytes();
    fillLogs();
    long logs = storage.usage().logBytes() - before;
    assertTrue(logs > 2_000_000 && logs < 3_500_000, logs + " bytes of logs");
    fillPayloads();
    assertTrue(storage.usage().payloadBytes() > 3_000_000, "" + storage.usage());
    assertTrue(storage.usage().payloadBytes() < 6_000_000, "" + storage.usage());
    empty();
    assertTrue(storage.usage().logBytes() < 100_000, "" + storage.usage());
    assertEquals(
        storage.usage().logBytes(),
        api.get("/v1/statistics").<Integer>get("storage.log_bytes").longValue());
  }

  @Test
  void fullLogsAreCutWhileExecutionsGoOn() throws IOException {
    Work work = start();
    intake.take(executor, work.executionId(), List.of(log(1, 1)));
    fillLogs();
    assertTrue(api.get("/v1/statistics").<String>get("storage.full").contains("logs"));
    intake.take(executor, work.executionId(), List.of(log(2, 2), log(3, 3)));
    rows.run("delete from log_entry where owner_id = 'exec_other'");
    storage.measure();
    intake.take(
        executor,
        work.executionId(),
        List.of(log(4, 4), frame(5, "\"type\": \"returned\", \"value\": \"1\"")));
    Api.Answer ended = api.get("/v1/executions/" + work.executionId());
    assertEquals("succeeded", ended.get("state"));
    assertEquals(true, ended.get("logs_truncated"));
    assertEquals(
        List.of("line", FrameLimits.FULL),
        api.get("/v1/executions/" + work.executionId() + "/logs").get("data.message"));
  }

  @Test
  void noJobIsTakenOrStartedWhilePayloadsAreFull() throws IOException {
    Work running = start();
    String execute = "/v1/agents/" + agent + "/execute";
    String waiting = api.post(execute, "{}", "Idempotency-Key", "first").get("id");
    fillPayloads();
    isRefused(api.post(execute, "{}"), "payload-bytes");
    isRefused(api.post(execute + "-batch", "{\"payloads\": [1, 2]}"), "payload-bytes");
    Api.Answer repeated = api.post(execute, "{}", "Idempotency-Key", "first");
    assertEquals(200, repeated.status(), repeated.text());
    assertEquals(waiting, repeated.get("id"));
    // What runs ends; what waits goes on waiting.
    intake.take(
        executor,
        running.executionId(),
        List.of(frame(1, "\"type\": \"returned\", \"value\": \"1\"")));
    dispatcher.heard(executor, running.executionId(), true);
    assertEquals("succeeded", api.get("/v1/executions/" + running.executionId()).get("state"));
    assertInstanceOf(PollAnswer.None.class, poll());
    assertEquals(List.of(), demand.read(Instant.now()));
    Api.Answer job = api.get("/v1/executor-jobs/" + waiting);
    assertEquals("storage", job.get("waiting_on"));
    assertTrue(job.<String>get("message").contains("roost.storage.payload-bytes"), job.text());
    Api.Answer listed = api.get("/v1/executor-jobs?state=queued&agent_id=" + agent);
    assertEquals(List.of("storage"), listed.get("data.waiting_on"));
    assertEquals(201, api.post("/v1/agents", "{\"script\": \"\"}").status());
    empty();
    assertEquals("executor", api.get("/v1/executor-jobs/" + waiting).get("waiting_on"));
    dispatcher.offer(new RevisionKey(agent, 1), 1);
    assertEquals(waiting, assertInstanceOf(PollAnswer.Some.class, poll()).work().executorJobId());
  }

  @Test
  void fullStoresCanBeReadAndEmptied() throws IOException {
    String store = api.get("/v1/agents/" + agent).get("store_ids[0]");
    String entry = "/v1/datastore/" + store + "/entries/";
    String value = "\"" + "v".repeat(700_000) + "\"";
    for (int i = 1; i <= 3; i++) {
      assertTrue(api.put(entry + "k" + i, value).status() < 300);
    }
    storage.measure();
    isRefused(api.put(entry + "k4", "1"), "store-bytes");
    isRefused(
        api.send(
            "POST",
            "/v1/datastore/" + store + "/import",
            "{\"key\": \"k5\", \"value\": 1}\n",
            "Content-Type",
            "application/x-ndjson"),
        "store-bytes");
    assertEquals(200, api.get(entry + "k1").status());
    assertTrue(api.delete(entry + "k1").status() < 300);
    storage.measure();
    assertTrue(api.put(entry + "k4", "1").status() < 300);
    assertNull(storage.usage().full());
  }
}
