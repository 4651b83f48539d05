package dev.roost.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Schedules as clients see them. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class ScheduleIT {
  private static final String SCHEDULES = "/v1/schedules";
  private static final String JOBS = "/v1/executor-jobs?schedule_id=";
  private static final int ROUNDS = 6;

  private Api api;
  private String agent;

  @BeforeEach
  void makeAgent() {
    api = Api.as(Role.WRITE);
    agent = api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
  }

  private Answer create(String members) {
    String all = "{'agent_id': '%s', %s}".formatted(agent, members);
    return api.post(SCHEDULES, all.replace('\'', '"'));
  }

  private Answer change(String id, String body) {
    return api.patch(SCHEDULES + "/" + id, body.replace('\'', '"'));
  }

  private Answer schedule(String id) {
    return api.get(SCHEDULES + "/" + id);
  }

  @Test
  void aScheduleHasDefaultsAndANextTime() {
    Instant before = Instant.now();
    Answer made = create("'cron': '*/5 * * * *'");
    assertEquals(201, made.status(), made.text());
    String id = made.get("id");
    assertTrue(id.startsWith("sched_"));
    assertEquals(SCHEDULES + "/" + id, made.header("Location").replaceFirst("http://[^/]*", ""));
    assertEquals(agent, made.get("agent_id"));
    assertTrue(made.<String>get("name").matches("[a-z]+-[a-z]+-[0-9]+"));
    assertEquals("UTC", made.get("time_zone"));
    assertEquals("active", made.get("state"));
    assertEquals("run_once", made.get("missed_runs"));
    assertEquals(100, (int) made.get("missed_runs_limit"));
    assertEquals("allow", made.get("overlap"));
    assertEquals(0, made.<Number>get("jitter").intValue());
    assertNull(made.get("payload"));
    assertNull(made.get("starts_at"));
    assertNull(made.get("last_run"));
    assertTrue(made.<String>get("description").contains("5"), made.text());
    Instant next = Instant.parse(made.get("next_run_at"));
    Instant latest = Instant.now().plusSeconds(301);
    assertTrue(next.isAfter(before) && next.isBefore(latest), before + " " + next);
    Answer rare = create("'cron': '0 0 29 2 *'"); // Its time doesn't come between the two.
    assertEquals(rare.text(), schedule(rare.get("id")).text());
  }

  @Test
  void everyMistakeIsReportedAtOnce() {
    Answer refused =
        api.post(
            SCHEDULES,
            """
            {"cron": "61 * * * *", "time_zone": "Europe/Berln", "missed_runs": "all", "missed_runs_limit": 0,
             "overlap": "no", "jitter": 3601, "starts_at": "tomorrow", "ends_at": 7, "state": "off", "name": " ",
             "crom": 1}""");
    assertEquals(422, refused.status());
    assertEquals(
        List.of(
            "/agent_id",
            "/cron",
            "/time_zone",
            "/state",
            "/missed_runs",
            "/missed_runs_limit",
            "/overlap",
            "/jitter",
            "/starts_at",
            "/ends_at",
            "/name",
            "/crom"),
        refused.get("errors.pointer"),
        refused.text());
    assertTrue(refused.<List<String>>get("errors.detail").get(2).contains("Europe/Berlin"));
    Answer backwards =
        create(
            "'cron': '@daily', 'starts_at': '2030-01-02T00:00:00Z', 'ends_at': '2030-01-01T00:00:00Z'");
    assertEquals("/ends_at", backwards.get("errors[0].pointer"));
    Answer nobody = api.post(SCHEDULES, "{\"agent_id\": \"agent_x\", \"cron\": \"@daily\"}");
    assertEquals(422, nobody.status());
    assertEquals("/agent_id", nobody.get("errors[0].pointer"));
    assertEquals("not_found", nobody.get("errors[0].code"));
    String large = "'payload': '%s'".formatted("x".repeat(4 << 20));
    assertEquals(413, create("'cron': '@daily', " + large).status());
    assertEquals(404, schedule("sched_none").status());
    assertEquals(404, change("sched_none", "{}").status());
    assertEquals(404, api.delete(SCHEDULES + "/sched_none").status());
    assertEquals(404, api.post(SCHEDULES + "/sched_none/trigger", null).status());
    assertEquals(404, api.get(SCHEDULES + "/sched_none/next").status());
    assertEquals(403, Api.as(Role.EXECUTE).post(SCHEDULES, "{}").status());
  }

  @Test
  void aNameIsUniqueAmongTheAgentsSchedules() {
    String first = create("'cron': '@daily', 'name': 'report'").get("id");
    Answer taken = create("'cron': '@hourly', 'name': 'report'");
    assertEquals(409, taken.status());
    assertEquals("conflict", taken.get("code"));
    String second = create("'cron': '@hourly', 'name': 'other'").get("id");
    assertEquals(409, change(second, "{'name': 'report'}").status());
    assertEquals(200, change(first, "{'name': 'report'}").status());
    String former = agent;
    makeAgent();
    assertEquals(201, create("'cron': '@daily', 'name': 'report'").status());
    assertEquals(422, change(first, "{'agent_id': '%s'}".formatted(agent)).status());
    assertEquals(200, change(first, "{'agent_id': '%s'}".formatted(former)).status());
  }

  @Test
  void schedulesAreListedByAgentStateAndName() {
    String a = create("'cron': '@daily', 'name': 'a'").get("id");
    String b = create("'cron': '@daily', 'name': 'b', 'state': 'paused'").get("id");
    String c = create("'cron': '@daily', 'name': 'c'").get("id");
    String mine = SCHEDULES + "?agent_id=" + agent;
    assertEquals(List.of(c, b, a), api.get(mine).get("data.id"));
    assertEquals(List.of(b), api.get(mine + "&state=paused").get("data.id"));
    assertEquals(List.of(a), api.get(mine + "&name=a").get("data.id"));
    Answer page = api.get(mine + "&limit=2");
    assertEquals(List.of(c, b), page.get("data.id"));
    assertEquals(List.of(a), api.get(mine + "&cursor=" + page.get("next_cursor")).get("data.id"));
  }

  @Test
  void aPausedScheduleHasNoNextTimeAndAResumedOneCountsFromNow() {
    String id = create("'cron': '* * * * *'").get("id");
    Answer paused = change(id, "{'state': 'paused'}");
    assertEquals("paused", paused.get("state"));
    assertNull(paused.get("next_run_at"));
    assertEquals(List.of(), api.get(SCHEDULES + "/" + id + "/next").get("next"));
    Instant before = Instant.now();
    Answer resumed = change(id, "{'state': 'active'}");
    assertTrue(Instant.parse(resumed.get("next_run_at")).isAfter(before));
  }

  @Test
  void boundsAreKeptAndCanBeTakenAway() {
    Answer made =
        create(
            "'cron': '0 0 1 * *', 'starts_at': '2100-01-01T02:00:00+02:00', 'ends_at': '2100-02-15T00:00:00Z'");
    String id = made.get("id");
    assertEquals("2100-01-01T00:00:00.000000Z", made.get("starts_at"));
    assertEquals("2100-01-01T00:00:00.000000Z", made.get("next_run_at"));
    assertEquals(
        List.of("2100-01-01T00:00:00.000000Z", "2100-02-01T00:00:00.000000Z"),
        api.get(SCHEDULES + "/" + id + "/next?count=7").get("next"));
    Answer open = change(id, "{'starts_at': null, 'ends_at': null}");
    assertNull(open.get("starts_at"));
    assertNull(open.get("ends_at"));
    assertTrue(
        Instant.parse(open.get("next_run_at")).isBefore(Instant.parse("2099-01-01T00:00:00Z")));
    Answer over = change(id, "{'ends_at': '2001-01-01T00:00:00Z'}");
    assertNull(over.get("next_run_at"));
    assertEquals("active", over.get("state"));
  }

  @Test
  void aPreviewHasADescriptionAndTimes() {
    Answer preview =
        Api.as(Role.READ)
            .post(
                SCHEDULES + "/preview",
                """
                {"cron": "30 2 * * *", "time_zone": "Europe/Berlin", "count": 2, "after": "2026-03-28T12:00:00Z"}""");
    assertEquals(200, preview.status(), preview.text());
    assertEquals(
        List.of("2026-03-29T01:00:00.000000Z", "2026-03-30T00:30:00.000000Z"), preview.get("next"));
    assertTrue(preview.<String>get("description").contains("02:30"), preview.text());
    Answer wrong =
        api.post(
            SCHEDULES + "/preview",
            "{\"cron\": \"* * *\", \"time_zone\": \"CET/x\", \"count\": 0}");
    assertEquals(List.of("/cron", "/time_zone", "/count"), wrong.get("errors.pointer"));
    String id = create("'cron': '@daily'").get("id");
    assertEquals(5, api.get(SCHEDULES + "/" + id + "/next").<List<?>>get("next").size());
    assertEquals(422, api.get(SCHEDULES + "/" + id + "/next?count=101").status());
    assertEquals(422, api.get(SCHEDULES + "/" + id + "/next?count=0").status());
  }

  @Test
  void aTriggeredRunHasThePayloadAndNoScheduledTime() {
    String id =
        create("'cron': '@yearly', 'payload': {'x': 1.10}, 'overlap': 'queue', 'state': 'paused'")
            .get("id");
    Answer job = Api.as(Role.EXECUTE).post(SCHEDULES + "/" + id + "/trigger", null);
    assertEquals(201, job.status(), job.text());
    assertTrue(job.header("Location").endsWith("/v1/executor-jobs/" + job.get("id")));
    assertEquals(id, job.get("schedule_id"));
    assertNull(job.get("scheduled_time"));
    assertTrue(job.text().contains("{\"x\": 1.10}"));
    assertEquals("queued", job.get("state"));
    assertNull(schedule(id).get("last_run"));
    String[] once = {"Idempotency-Key", "once"};
    Answer again = api.post(SCHEDULES + "/" + id + "/trigger", null, once);
    assertEquals(201, again.status());
    Answer repeated = api.post(SCHEDULES + "/" + id + "/trigger", null, once);
    assertEquals(200, repeated.status());
    assertEquals((String) again.get("id"), repeated.get("id"));
    assertEquals(id, job.get("concurrency_key"));
    List<String> jobs = api.get("/v1/executor-jobs?schedule_id=" + id).get("data.id");
    assertEquals(2, jobs.size());
  }

  @Test
  void aDeletedScheduleLeavesItsJobsAndADeletedAgentNoSchedules() {
    String id = create("'cron': '@yearly'").get("id");
    String other = create("'cron': '@yearly'").get("id");
    String job = api.post(SCHEDULES + "/" + id + "/trigger", null).get("id");
    assertEquals(204, api.delete(SCHEDULES + "/" + id).status());
    assertEquals(404, schedule(id).status());
    assertEquals("queued", api.get("/v1/executor-jobs/" + job).get("state"));
    assertEquals(204, api.delete("/v1/agents/" + agent).status());
    assertEquals(404, schedule(other).status());
    assertEquals("cancelled", api.get("/v1/executor-jobs/" + job).get("state"));
  }

  @Test
  void dueSchedulesSubmitJobs() {
    String id = create("'cron': '* * * * *', 'payload': 'x', 'overlap': 'queue'").get("id");
    // As though its time came this moment.
    TestRows.of(id).dueNow();
    Await.until("a job is submitted", () -> schedule(id).get("last_run") != null);
    Answer after = schedule(id);
    Map<String, String> run = after.get("last_run");
    Answer job = api.get("/v1/executor-jobs/" + run.get("executor_job_id"));
    assertEquals(id, job.get("schedule_id"));
    assertEquals(run.get("scheduled_time"), job.get("scheduled_time"));
    assertEquals("queued", run.get("state"));
    assertEquals("x", job.get("payload"));
    assertNotNull(after.get("next_run_at"));
    assertTrue(
        Instant.parse(after.get("next_run_at")).isAfter(Instant.parse(run.get("scheduled_time"))));
  }

  /** Whoever has the row first does its work, and the other one finds what that left. */
  @Test
  @Timeout(180)
  void aScheduleThatIsPausedOrDeletedWhileItIsDueMakesItsJobBeforeThatOrNotAtAll() {
    int submitted = 0;
    for (int i = 0; i < ROUNDS || submitted == i; i++) { // The pause must have been first once.
      String paused = create("'cron': '* * * * *'").get("id");
      String deleted = create("'cron': '* * * * *'").get("id");
      TestRows.of(paused).dueNow();
      TestRows.of(deleted).dueNow();
      Answer after = change(paused, "{'state': 'paused'}");
      assertEquals(204, api.delete(SCHEDULES + "/" + deleted).status());
      assertNull(after.get("next_run_at"));
      int jobs = jobs(paused).size();
      submitted += Math.min(1, jobs);
      assertEquals(jobs > 0, after.get("last_run") != null, after.text());
      int left = jobs(deleted).size();
      String later = create("'cron': '* * * * *'").get("id");
      TestRows.of(later).dueNow();
      Await.until("a tick later", () -> !jobs(later).isEmpty());
      assertEquals(jobs, jobs(paused).size());
      assertEquals(left, jobs(deleted).size());
    }
  }

  @Test
  void aChangeWhileItIsDueCountsFromNow() {
    for (String change :
        List.of(
            "'cron': '* * 1 1 *'",
            "'time_zone': 'Asia/Tokyo'",
            "'ends_at': '2300-01-01T00:00:00Z'")) {
      Instant created = Instant.now();
      String id = create("'cron': '* * * * *'").get("id");
      String minute = "date_trunc('minute', now()) - interval '10 s'";
      // Due in the past, and not seen by a ticker as long as the row is changed in one go.
      TestRows.of(id).set("next_run_at = %s, due_at = now() + interval '1 h'".formatted(minute));
      Instant before = Instant.now();
      Answer changed = change(id, "{" + change + "}");
      Instant next = Instant.parse(changed.get("next_run_at"));
      assertTrue(next.isAfter(before), changed.text());
      // A minute may have begun since.
      List<String> times = api.get(JOBS + id).get("data.scheduled_time");
      assertTrue(times.stream().map(Instant::parse).allMatch(created::isBefore), times.toString());
    }
    String id = create("'cron': '0 0 29 2 *', 'jitter': 3600").get("id");
    String next = schedule(id).get("next_run_at");
    assertEquals(next, change(id, "{'overlap': 'skip', 'payload': 1}").get("next_run_at"));
    assertEquals(next, change(id, "{'cron': '0 0 29 2 *', 'jitter': 0}").get("next_run_at"));
    assertEquals(List.of(next), TestRows.of(id).dueAt());
  }

  @Test
  void withoutCapacityATriggerIsRefused() {
    String id = create("'cron': '@yearly'").get("id");
    TestRows.fillQueue(agent);
    Answer refused = api.post(SCHEDULES + "/" + id + "/trigger", null);
    assertEquals(429, refused.status());
    assertEquals("queue_full", refused.get("code"));
    assertNotNull(refused.header("Retry-After"));
  }

  private List<String> jobs(String schedule) {
    return api.get(JOBS + schedule).get("data.id");
  }
}
