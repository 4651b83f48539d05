package dev.roost.builds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import dev.roost.agent.AgentChanged;
import dev.roost.api.Ids;
import dev.roost.api.Role;
import dev.roost.execution.ScheduledJobs;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Which revision of an agent runs: the newest whose build has succeeded. On a runtime whose builds
 * end when the test says so.
 */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class RunningRevisionIT {
  /** What refers to others first. */
  private static final List<String> TABLES =
      List.of("executor_job", "agent_store", "agent_revision", "agent", "builder_job");

  /** What was told of agents. */
  @ApplicationScoped
  public static class Heard {
    private final List<AgentChanged> all = new CopyOnWriteArrayList<>();

    void changed(@Observes AgentChanged change) {
      all.add(change);
    }

    AgentChanged last(String agentId) {
      return all.stream()
          .filter(change -> change.agentId().equals(agentId))
          .reduce((before, after) -> after)
          .orElse(null);
    }
  }

  @Inject Heard heard;
  @Inject Event<BuilderJobEnded> ended;
  @Inject DataSource dataSource;

  private final List<String> agents = new ArrayList<>();
  private Api api;
  private String path;

  @BeforeEach
  void makeAgent() {
    api = Api.as(Role.WRITE);
    path = newAgent();
  }

  private String newAgent() {
    String id = api.post("/v1/agents", "{\"script\": \"one\", \"store_ids\": []}").get("id");
    agents.add(id);
    return "/v1/agents/" + id;
  }

  @AfterEach
  void clear() {
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              for (String table : TABLES) {
                String column = table.equals("agent") ? "id" : "agent_id";
                BuilderJob.getEntityManager()
                    .createNativeQuery("delete from %s where %s in (:ids)".formatted(table, column))
                    .setParameter("ids", agents)
                    .executeUpdate();
              }
              Build.delete("imageKey like 'test %'");
            });
  }

  private Answer change(String json) {
    Answer answer = api.patch(path, json);
    assertEquals(200, answer.status(), answer.text());
    return answer;
  }

  private String buildOf(int revision) {
    return api.get(path + "/revisions/" + revision).get("builder_job_id");
  }

  private int revisionOfNewJob() {
    Answer job = api.post(path + "/execute", "{}");
    assertEquals(201, job.status(), job.text());
    return job.get("agent_revision");
  }

  private void assertRuns(Integer running, Integer building, Integer failed) {
    Answer agent = api.get(path);
    assertEquals(running, agent.get("running_revision"), agent.text());
    assertEquals(building, agent.get("building_revision"), agent.text());
    assertEquals(failed, agent.get("build_failure.revision"), agent.text());
  }

  private static boolean succeed(String builderJob) {
    return QuarkusTransaction.requiringNew()
        .call(
            () -> {
              BuilderJob.lockAgent(builderJob);
              Build build = new Build();
              build.id = Ids.next("build");
              build.imageKey = "test " + build.id;
              build.pythonVersion = "3.13";
              build.packages = "[]";
              build.createdAt = Instant.now();
              build.persistAndFlush();
              return BuilderJob.succeed(builderJob, build.id, false, Instant.now());
            });
  }

  private static void fail(String builderJob) {
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                assertTrue(
                    BuilderJob.fail(
                        builderJob, "requirement_not_found", "There is none.", Instant.now())));
  }

  @Test
  void theFirstRevisionWaitsForItsBuild() {
    assertRuns(null, 1, null);
    Answer job = api.post(path + "/execute", "{}");
    assertEquals("build", job.get("waiting_on"));
    assertTrue(succeed(buildOf(1)));
    assertRuns(1, null, null);
  }

  @Test
  void whenTheFirstBuildFailsTheNextRevisionIsWaitedFor() {
    fail(buildOf(1));
    assertRuns(null, null, 1);
    assertEquals(1, revisionOfNewJob());
    change("{\"requirements\": \"six==1.17.0\"}");
    assertRuns(null, 2, null);
    assertEquals(2, revisionOfNewJob());
  }

  @Test
  void aRevisionRunsWhenItsBuildHasSucceeded() {
    succeed(buildOf(1));
    Answer changed = change("{\"requirements\": \"six==1.17.0\"}");
    assertEquals(2, (int) changed.get("revision"));
    assertRuns(1, 2, null);
    assertEquals(1, revisionOfNewJob());
    String tag = api.get(path).header("ETag");

    succeed(buildOf(2));

    assertRuns(2, null, null);
    assertEquals(2, revisionOfNewJob());
    assertEquals(tag, api.get(path).header("ETag"), "what was read can still be changed");
  }

  @Test
  void aFailedBuildReplacesNothing() {
    succeed(buildOf(1));
    change("{\"requirements\": \"six==99.0\", \"script\": \"two\"}");
    fail(buildOf(2));

    assertRuns(1, null, 2);
    Answer failure = api.get(path);
    assertEquals("requirement_not_found", failure.get("build_failure.reason"));
    assertEquals("There is none.", failure.get("build_failure.message"));
    assertEquals(buildOf(2), failure.get("build_failure.builder_job_id"));
    assertEquals(1, revisionOfNewJob());
    Answer batch = api.post(path + "/execute-batch", "{\"payloads\": [1, 2]}");
    assertEquals(201, batch.status(), batch.text());
    String batched = batch.get("executor_job_ids[0]");
    assertEquals(1, (int) api.get("/v1/executor-jobs/" + batched).get("agent_revision"));

    change("{\"requirements\": \"six==99.0\"}");
    assertRuns(1, 2, null);
    fail(buildOf(2));
    change("{\"script\": \"three\"}");
    assertRuns(1, 3, null);
    succeed(buildOf(3));
    assertRuns(3, null, null);
  }

  @Test
  void whatIsBuiltAlreadyRunsAtOnce() {
    succeed(buildOf(1));
    assertEquals(2, (int) change("{\"script\": \"two\"}").get("running_revision"));
    change("{\"script\": \"three\", \"requirements\": \"six==1.17.0\"}");
    change("{\"script\": \"four\"}");
    assertRuns(2, 4, null);
    succeed(buildOf(4));
    assertRuns(4, null, null);
  }

  @Test
  void theNewestRevisionThatIsBuiltRunsWhateverEndsFirst() {
    assertEquals(1, revisionOfNewJob(), "keeps its build from being superseded");
    String first = buildOf(1);
    change("{\"requirements\": \"six==1.17.0\"}");
    assertEquals(2, revisionOfNewJob());
    String second = buildOf(2);
    change("{\"requirements\": \"six==1.16.0\"}");
    assertRuns(null, 3, null);
    succeed(second);
    assertRuns(2, 3, null);
    assertTrue(succeed(first));
    assertRuns(2, 3, null);
    assertEquals(2, revisionOfNewJob());
    succeed(buildOf(3));
    assertRuns(3, null, null);
  }

  @Test
  void theBuildThatMakesAgainWhatRunsIsNotSuperseded() {
    succeed(buildOf(1));
    String again = buildOf(1);
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                BuilderJob.update(
                    "state = 'running', startedAt = finishedAt, buildId = null where id = ?1",
                    again));
    assertRuns(1, null, null);
    change("{\"requirements\": \"six==1.17.0\"}");
    assertRuns(1, 2, null);
    assertTrue(succeed(again));
    assertRuns(1, 2, null);
  }

  @Test
  void aBuildThatAnEarlierVersionEndedIsCaughtUpWith() {
    succeed(buildOf(1));
    change("{\"requirements\": \"six==1.17.0\"}");
    String build = buildOf(2);
    succeed(build);
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                BuilderJob.getEntityManager()
                    .createNativeQuery("update agent set running_revision = 1 where id = :id")
                    .setParameter("id", path.substring("/v1/agents/".length()))
                    .executeUpdate());
    assertEquals(1, revisionOfNewJob());
    QuarkusTransaction.requiringNew().run(BuilderJob::runWhatIsBuilt);
    assertRuns(2, null, null);
  }

  @Test
  void aSaveAndTheEndOfABuildAtTheSameTimeLeaveTheNewestRunning() {
    for (int round = 0; round < 15; round++) {
      path = newAgent();
      String build = buildOf(1);
      race(build, "{\"script\": \"two\"}");
      assertRuns(2, null, null);
    }
  }

  @Test
  void aSaveAndTheEndOfTheBuildThatItSupersedesDoNotBlockEachOther() {
    for (int round = 0; round < 15; round++) {
      path = newAgent();
      String build = buildOf(1);
      boolean built = race(build, "{\"requirements\": \"six==1.17.0\"}");
      assertRuns(built ? 1 : null, 2, null);
    }
  }

  @Test
  void savesAtTheSameTimeLeaveTheNewestRunning() {
    succeed(buildOf(1));
    List<CompletableFuture<Answer>> saves =
        List.of("two", "three", "four", "five").stream()
            .map(
                script ->
                    CompletableFuture.supplyAsync(
                        () -> api.patch(path, "{\"script\": \"" + script + "\"}")))
            .toList();
    saves.forEach(save -> assertEquals(200, save.join().status()));
    assertRuns(5, null, null);
  }

  @Test
  void theEventSaysWhichRevisionRuns() {
    String id = path.substring("/v1/agents/".length());
    succeed(buildOf(1));
    change("{\"requirements\": \"six==1.17.0\"}");
    succeed(buildOf(2));
    List<Object> revisions =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    BuilderJob.getEntityManager()
                        .createNativeQuery(
                            "select cast(data as json) ->> 'running_revision' from event"
                                + " where subject = :id and type = 'agent.updated' order by id",
                            Object.class)
                        .setParameter("id", id)
                        .getResultList());
    assertEquals(List.of("1", "1", "2"), revisions);
    assertNull(api.get(path).get("build_failure"));
    assertFalse(api.get(path).text().contains("\"running_revision\":null"));
  }

  @Test
  void executorsHearWhichRevisionRuns() {
    succeed(buildOf(1));
    change("{\"requirements\": \"six==1.17.0\"}");
    String id = path.substring("/v1/agents/".length());
    assertEquals(new AgentChanged(id, 1), heard.last(id));
    succeed(buildOf(2));
    ended.fire(new BuilderJobEnded("bjob_none", id, 2));
    assertEquals(new AgentChanged(id, 2), heard.last(id));
  }

  @Test
  void aScheduleRunsTheRevisionThatRuns() throws SQLException {
    succeed(buildOf(1));
    change("{\"requirements\": \"six==1.17.0\"}");
    String id = path.substring("/v1/agents/".length());
    Answer schedule =
        api.post(
            "/v1/schedules",
            "{\"agent_id\": \"%s\", \"cron\": \"@yearly\", \"state\": \"paused\"}".formatted(id));
    assertEquals(201, schedule.status(), schedule.text());
    Instant time = Instant.now();
    ScheduledJobs.Request request = new ScheduledJobs.Request(schedule.get("id"), id, time, null);
    try (Connection connection = dataSource.getConnection()) {
      assertEquals(
          1, ScheduledJobs.submit(connection, List.of(request), 10, time).get(0).agentRevision());
    }
    api.delete("/v1/schedules/" + schedule.get("id"));
  }

  /** Whether the build succeeded. */
  private boolean race(String build, String json) {
    CompletableFuture<Boolean> end = CompletableFuture.supplyAsync(() -> succeed(build));
    Answer saved = api.patch(path, json);
    assertEquals(200, saved.status(), saved.text());
    return end.join();
  }
}
