package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Ids;
import dev.roost.db.ThrottledBatches;
import dev.roost.execution.OldJobEvents;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Events that scripts wait for. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class JobEventsIT extends RunningExecution {
  /** Of this test alone, as events are stored for a time. */
  private String key;

  @BeforeEach
  void chooseAKey() {
    key = Ids.next("test");
  }

  private void await(int seq, String more) {
    run(
        """
        {"op": "event", "seq": %d, "path": "%d", "name": "paid", "event": "paid"%s}"""
            .formatted(seq, seq, more));
  }

  private String keyed() {
    return ", \"key\": \"" + key + "\"";
  }

  private Api.Answer send(String data) {
    return api.send(
        "POST",
        "/v1/executor-jobs/" + job + "/events",
        "{\"name\": \"paid\", \"data\": " + data + "}");
  }

  private Api.Answer sendByKey(String data) {
    return api.send(
        "POST", "/v1/events", "{\"name\": \"paid\"" + keyed() + ", \"data\": " + data + "}");
  }

  @Test
  void anEventIsTheResultOfTheFirstWait() {
    await(1, "");
    await(2, "");
    assertEquals(0, outcomes().size());
    Api.Answer sent = send("{\"n\": 1.0}");
    assertEquals(201, sent.status());
    assertNotNull(sent.get("received_at"));
    JsonNode first = outcomes();
    assertEquals(1, first.size());
    assertEquals(1, first.at("/0/seq").asInt());
    assertEquals("{\"n\": 1.0}", first.at("/0/result").asText());
    send("2");
    assertEquals("2", outcomes().at("/1/result").asText());
    Api.Answer listed = api.get("/v1/executor-jobs/" + job + "/events");
    assertEquals(List.of("paid", "paid"), listed.get("data.name"));
    assertTrue(listed.text().contains("{\"n\": 1.0}"), listed.text());
    Api.Answer history = api.get("/v1/executor-jobs/" + job + "/steps");
    assertEquals(List.of("event", "event"), history.get("data.kind"));
    assertEquals(List.of("paid", "paid"), history.get("data.event_name"));
    assertEquals(List.of("succeeded", "succeeded"), history.get("data.state"));
  }

  @Test
  void eventsThatComeEarlyAreStoredInTheirOrder() {
    assertNull(send("1").get("received_at"));
    sendByKey("2");
    send("3");
    await(1, keyed());
    await(2, "");
    await(3, keyed());
    JsonNode outcomes = outcomes();
    assertEquals(List.of("1", "3", "2"), results(outcomes));
  }

  private static List<String> results(JsonNode outcomes) {
    List<String> results = new ArrayList<>();
    outcomes.forEach(outcome -> results.add(outcome.path("result").asText()));
    return results;
  }

  @Test
  void ofAllJobsTheFirstThatWaitsForAKeyReceivesIt() {
    await(1, keyed());
    String first = job;
    String firstExecutor = executor;
    String firstExecution = execution;
    start();
    await(1, keyed());
    assertEquals(first, sendByKey("1").get("executor_job_id"));
    assertEquals(0, outcomes().size());
    assertEquals(job, sendByKey("2").get("executor_job_id"));
    assertNull(sendByKey("3").get("executor_job_id"));
    assertEquals(List.of("2"), results(outcomes()));
    executor = firstExecutor;
    execution = firstExecution;
    assertEquals(List.of("1"), results(outcomes()));
  }

  @Test
  void jobsThatHaveEndedReceiveNothing() {
    await(1, keyed());
    suspend("[1]", true);
    cancel(job);
    Api.Answer refused = send("1");
    assertEquals(409, refused.status());
    assertTrue(refused.text().contains("has ended (cancelled)"), refused.text());
    assertNull(sendByKey("1").get("executor_job_id"));
    assertEquals(
        404, api.send("POST", "/v1/executor-jobs/xjob_0/events", "{\"name\": \"paid\"}").status());
  }

  @Test
  void anEventContinuesASuspendedJob() {
    await(1, "");
    suspend("[1]", true);
    assertEquals("event", read(job).get("waiting_on"));
    assertNull(read(job).get("resume_at"));
    suspended.pass();
    assertEquals("suspended", read(job).get("state"));
    send("1");
    suspended.pass();
    assertEquals("queued", read(job).get("state"));
  }

  @Test
  void anEventThatComesJustBeforeTheSuspensionContinuesIt() {
    await(1, "");
    send("1");
    suspend("[1]", true);
    suspended.pass();
    assertEquals("queued", read(job).get("state"));
  }

  @Test
  void aTimeoutEndsTheWaitAndTheEventIsForTheNext() throws InterruptedException {
    await(1, ", \"timeout\": 0.05" + keyed());
    Thread.sleep(100);
    assertNull(sendByKey("1").get("received_at"), "nobody waits any more");
    JsonNode outcomes = outcomes();
    assertEquals(
        "roost_executor.script.step_errors.WaitTimeout", outcomes.at("/0/error/type").asText());
    assertEquals(
        "no event paid with the key " + key + " came in time",
        outcomes.at("/0/error/message").asText());
    assertEquals(outcomes, outcomes(), "it is stored");
    await(2, keyed());
    assertEquals("1", outcomes().at("/1/result").asText());
  }

  @Test
  void aSuspendedJobContinuesAtTheTimeout() {
    await(1, ", \"timeout\": 3600");
    suspend("[1]", true);
    Instant until = Instant.parse(read(job).get("resume_at"));
    assertTrue(until.isAfter(Instant.now().plusSeconds(3500)), until::toString);
    assertEquals("event", read(job).get("waiting_on"));
  }

  @Test
  void repeatingARequestChangesNothing() {
    await(1, "");
    await(1, "");
    String[] header = {"Idempotency-Key", key};
    String path = "/v1/executor-jobs/" + job + "/events";
    Api.Answer first = api.send("POST", path, "{\"name\": \"paid\", \"data\": 1}", header);
    Api.Answer again = api.send("POST", path, "{\"name\": \"paid\", \"data\": 1}", header);
    assertEquals(201, first.status());
    assertEquals(200, again.status());
    assertEquals(first.<String>get("id"), again.get("id"));
    assertEquals(1, rows.count("job_event where executor_job_id = ?", job));
    Api.Answer other = api.send("POST", path, "{\"name\": \"paid\", \"data\": 2}", header);
    assertEquals(422, other.status());
    assertEquals("idempotency_key_reused", other.get("code"));
  }

  @Test
  void wrongEventsAreRefused() {
    String path = "/v1/events";
    for (String body :
        List.of(
            "{}",
            "{\"name\": \"paid\"}",
            "{\"name\": \"\", \"key\": \"k\"}",
            "{\"name\": \"paid\", \"key\": 7}",
            "{\"name\": \"paid\", \"key\": \"" + "k".repeat(201) + "\"}",
            "{\"name\": \"paid\", \"key\": \"k\", \"more\": 1}")) {
      assertEquals(422, api.send("POST", path, body).status(), body);
    }
    assertEquals(400, api.send("POST", path, "{").status());
    Api.Answer large =
        api.send(
            "POST",
            path,
            "{\"name\": \"paid\", \"key\": \"k\", \"data\": \"" + "x".repeat(4 << 20) + "\"}");
    assertEquals(413, large.status());
    assertEquals(0, rows.count("job_event where key = ?", "k"));
  }

  /** Half of the events come by the job, half by the key, while other requests begin to wait. */
  @Test
  void eachEventIsReceivedOnceHoweverTheyMeet() throws Exception {
    int number = 40;
    List<Callable<Void>> all = new ArrayList<>();
    for (int i = 1; i <= number; i++) {
      int each = i;
      all.add(
          () -> {
            Api.Answer sent = each % 2 == 0 ? send("" + each) : sendByKey("" + each);
            assertEquals(201, sent.status(), sent::text);
            return null;
          });
    }
    all.add(
        () -> {
          for (int i = 1; i <= number; i++) {
            await(i, keyed());
          }
          return null;
        });
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      for (var future : threads.invokeAll(all)) {
        future.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals(
        number,
        rows.count(
            "(select distinct result from executor_job_step where executor_job_id = ? and result is not null) r",
            job));
    assertEquals(0, rows.count("job_event where executor_job_id = ? and received_at is null", job));
    assertEquals(0, rows.count("job_event where key = ? and received_at is null", key));
  }

  @Test
  void oldEventsAreRemoved() {
    send("1");
    send("2");
    rows.run(
        "update job_event set expires_at = now() - interval '1 second' where executor_job_id = ? and data = '1'",
        job);
    OldJobEvents.remove(new ThrottledBatches(database, () -> true), Instant.now());
    assertEquals(1, rows.count("job_event where executor_job_id = ?", job));
  }

  @Test
  void whatIsStoredHasALimit() {
    rows.run(
        "insert into job_event (id, name, key, data, created_at, expires_at) select 'jevent_' || n || ?, 'paid', ?, "
            + "'1', now(), now() + interval '1 day' from generate_series(1, 10000) n",
        key,
        key);
    Api.Answer refused = sendByKey("1");
    assertEquals(413, refused.status());
    assertTrue(refused.text().contains("roost.limits.waiting-events"), refused.text());
    assertEquals(10_000, rows.count("job_event where key = ?", key));
  }
}
