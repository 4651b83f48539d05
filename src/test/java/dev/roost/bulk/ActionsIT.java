package dev.roost.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.HistoryRows;
import dev.roost.api.Role;
import dev.roost.db.Database;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One request for many agents or jobs. Nothing runs here. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class ActionsIT {
  private static final String ABSENT = "agent_00000000000000000000000000";

  @Inject Database database;

  private Api api;
  private String first;
  private String second;

  @BeforeEach
  void makeAgents() {
    api = Api.as(Role.WRITE);
    first = agent();
    second = agent();
  }

  private String agent() {
    return api.post("/v1/agents", "{\"script\": \"\", \"store_ids\": []}").get("id");
  }

  private static String list(String... ids) {
    return Stream.of(ids).map(id -> '"' + id + '"').collect(Collectors.joining(",", "[", "]"));
  }

  private Answer act(String action, String more, String... agents) {
    String body = "{\"action\": \"%s\", \"agent_ids\": %s%s}".formatted(action, list(agents), more);
    return api.post("/v1/agents/actions", body);
  }

  private static void assertChanged(Answer answer, int changed, int failed) {
    assertEquals(200, answer.status(), answer.text());
    assertEquals((Integer) changed, answer.get("changed"), answer.text());
    assertEquals((Integer) failed, answer.get("failed"), answer.text());
  }

  @Test
  void tagsAreAddedAndRemovedAndOnlyChangesCount() {
    api.patch("/v1/agents/" + first, "{\"tags\": [\"billing\"]}");
    String tags = ", \"tags\": [\"billing\"]";
    Answer preview = act("tag", tags + ", \"dry_run\": true", first, second, ABSENT);
    assertChanged(preview, 1, 1);
    assertEquals(List.of(), api.get("/v1/agents/" + second).get("tags"));
    Answer tagged = act("tag", tags, first, second, ABSENT);
    assertChanged(tagged, 1, 1);
    assertEquals(List.of(first, second, ABSENT), tagged.get("results.id"));
    assertEquals(List.of(false, true, false), tagged.get("results.changed"));
    assertEquals("not_found", tagged.get("results[2].error.code"));
    assertEquals(List.of("billing"), api.get("/v1/agents/" + second).get("tags"));
    assertChanged(act("untag", tags, first, second), 2, 0);
    assertEquals(List.of(), api.get("/v1/agents/" + first).get("tags"));
  }

  @Test
  void anAgentThatWouldHaveTooManyTagsIsReportedAndUnchanged() {
    String[] full = IntStream.range(0, 20).mapToObj(i -> "t" + i).toArray(String[]::new);
    api.patch("/v1/agents/" + first, "{\"tags\": " + list(full) + "}");
    Answer answer = act("tag", ", \"tags\": [\"one-more\"]", first, second);
    assertChanged(answer, 1, 1);
    assertEquals("validation_failed", answer.get("results[0].error.code"));
    List<String> kept = api.get("/v1/agents/" + first).get("tags");
    assertEquals(Arrays.stream(full).sorted().toList(), kept);
  }

  @Test
  void schedulesArePausedAndThoseAloneResumed() {
    String active = schedule(first, "active");
    String paused = schedule(first, "paused");
    Answer preview = act("pause_schedules", ", \"dry_run\": true", first, second);
    assertEquals(List.of(active), preview.get("results[0].schedule_ids"));
    assertEquals("active", api.get("/v1/schedules/" + active).get("state"));
    Answer answer = act("pause_schedules", "", first, second);
    assertChanged(answer, 1, 0);
    assertEquals(List.of(active), answer.get("results[0].schedule_ids"));
    assertNull(api.get("/v1/schedules/" + active).get("next_run_at"));
    assertChanged(
        act("resume_schedules", ", \"schedule_ids\": " + list(active), first, second), 1, 0);
    assertEquals("active", api.get("/v1/schedules/" + active).get("state"));
    assertTrue(api.get("/v1/schedules/" + active).get("next_run_at") != null);
    assertEquals("paused", api.get("/v1/schedules/" + paused).get("state"));
  }

  private String schedule(String agent, String state) {
    String body =
        "{\"agent_id\": \"%s\", \"cron\": \"0 0 1 1 *\", \"state\": \"%s\"}"
            .formatted(agent, state);
    return api.post("/v1/schedules", body).get("id");
  }

  @Test
  void aRunSubmitsOneJobOfEachAndARepeatedRequestTheSame() {
    String body = "{\"action\": \"run\", \"agent_ids\": %s, \"payload\": {\"n\": 1}}";
    String request = body.formatted(list(first, ABSENT, second));
    Api runner = Api.as(Role.EXECUTE);
    Answer answer = runner.post("/v1/agents/actions", request, "Idempotency-Key", "once");
    assertChanged(answer, 2, 1);
    String job = answer.get("results[0].executor_job_id");
    assertEquals((Integer) 1, api.get("/v1/executor-jobs/" + job).get("payload.n"));
    Answer again = runner.post("/v1/agents/actions", request, "Idempotency-Key", "once");
    assertEquals(job, again.get("results[0].executor_job_id"));
  }

  @Test
  void aDeletionSaysHowManyJobsItCancels() {
    String job = api.post("/v1/agents/" + first + "/execute", "{}").get("id");
    Answer preview = act("delete", ", \"dry_run\": true", first, second);
    assertEquals(List.of(1, 0), preview.get("results.jobs"));
    assertEquals(200, api.get("/v1/agents/" + first).status());
    assertChanged(act("delete", "", first, second), 2, 0);
    assertEquals(404, api.get("/v1/agents/" + second).status());
    assertEquals("cancelled", api.get("/v1/executor-jobs/" + job).get("state"));
    assertChanged(act("delete", "", first, second), 0, 2);
  }

  @Test
  void onlyARunIsAllowedWithTheRoleExecute() {
    Api runner = Api.as(Role.EXECUTE);
    for (String action : List.of("delete", "pause_schedules", "resume_schedules")) {
      String body = "{\"action\": \"%s\", \"agent_ids\": %s}".formatted(action, list(first));
      assertEquals(403, runner.post("/v1/agents/actions", body).status(), action);
    }
    assertEquals(200, api.get("/v1/agents/" + first).status());
    assertEquals(403, Api.as(Role.READ).post("/v1/agents/actions", "{}").status());
  }

  @Test
  void requestsThatMakeNoSenseAreRefused() {
    String many = list(IntStream.range(0, 201).mapToObj(i -> "agent_" + i).toArray(String[]::new));
    for (String body :
        List.of(
            "{}",
            "{\"action\": \"explode\", \"agent_ids\": []}",
            "{\"action\": \"run\"}",
            "{\"action\": \"run\", \"agent_ids\": \"all\"}",
            "{\"action\": \"run\", \"agent_ids\": " + many + "}",
            "{\"action\": \"tag\", \"agent_ids\": []}",
            "{\"action\": \"tag\", \"agent_ids\": [], \"tags\": [\"A b\"]}",
            "{\"action\": \"run\", \"agent_ids\": [], \"tags\": [\"a\"]}",
            "{\"action\": \"delete\", \"agent_ids\": [], \"payload\": 1}",
            "{\"action\": \"delete\", \"agent_ids\": [], \"schedule_ids\": [\"sched_1\"]}")) {
      assertEquals(422, api.post("/v1/agents/actions", body).status(), body);
    }
    assertEquals(422, api.post("/v1/executor-jobs/actions", "{}").status());
  }

  @Test
  void jobsAreCancelledOrRunAgainByTheirState() {
    String queued = api.post("/v1/agents/" + first + "/execute", "{\"payload\": 7}").get("id");
    HistoryRows rows = new HistoryRows(database);
    String execution = rows.execution(first, "failed", "exception", Instant.now());
    String ended = api.get("/v1/executions/" + execution).get("executor_job_id");
    String body = "{\"action\": \"%s\", \"executor_job_ids\": %s%s}";
    Api runner = Api.as(Role.EXECUTE);
    String path = "/v1/executor-jobs/actions";

    String again = body.formatted("run_again", list(queued, ended, "xjob_none"), "");
    Answer copied = runner.post(path, again);
    assertChanged(copied, 1, 1);
    assertEquals(List.of(false, true, false), copied.get("results.changed"));
    String copy = copied.get("results[1].executor_job_id");
    assertEquals("queued", api.get("/v1/executor-jobs/" + copy).get("state"));

    String dry = body.formatted("cancel", list(queued, ended), ", \"dry_run\": true");
    assertChanged(runner.post(path, dry), 1, 0);
    assertEquals("queued", api.get("/v1/executor-jobs/" + queued).get("state"));
    assertChanged(runner.post(path, body.formatted("cancel", list(queued, ended), "")), 1, 0);
    assertEquals("cancelled", api.get("/v1/executor-jobs/" + queued).get("state"));

    api.delete("/v1/agents/" + first);
    Answer gone = runner.post(path, body.formatted("run_again", list(ended), ""));
    assertChanged(gone, 0, 1);
    assertEquals("not_found", gone.get("results[0].error.code"));
  }
}
