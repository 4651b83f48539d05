package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.HistoryRows;
import dev.roost.ManyExecutions;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.state.ExecutionState;
import dev.roost.state.ExecutorJobState;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What lists can be narrowed down to. Nothing runs here. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class FiltersIT {
  @Inject Database database;
  @Inject DataSource dataSource;

  private HistoryRows rows;
  private Api api;
  private String agent;

  @BeforeEach
  void makeAgent() {
    rows = new HistoryRows(database);
    api = Api.as(Role.WRITE);
    agent = api.post("/v1/agents", "{\"script\": \"\"}").get("id");
  }

  private List<String> ids(String list) {
    Answer answer = api.get("/v1/" + list + (list.contains("?") ? "&" : "?") + "agent_id=" + agent);
    assertEquals(200, answer.status(), answer.text());
    return answer.get("data.id");
  }

  @Test
  void executionsByStatesReasonAndTime() {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    String done = rows.execution(agent, "succeeded", null, now.minusSeconds(30));
    String failed = rows.execution(agent, "failed", "exception", now.minusSeconds(20));
    String late = rows.execution(agent, "timed_out", "deadline_exceeded", now.minusSeconds(10));

    assertEquals(List.of(late, failed, done), ids("executions"));
    assertEquals(List.of(failed), ids("executions?state=failed"));
    assertEquals(List.of(late, done), ids("executions?state=succeeded,timed_out"));
    assertEquals(List.of(late, done), ids("executions?state=timed_out,%20succeeded,timed_out"));
    assertEquals(List.of(late), ids("executions?reason=deadline_exceeded"));
    assertEquals(List.of(), ids("executions?reason=deadline_exceeded&state=failed"));
    String from = now.minusSeconds(20).toString();
    assertEquals(List.of(late, failed), ids("executions?started_after=" + from));
    assertEquals(List.of(done), ids("executions?started_before=" + from));
    assertEquals(
        List.of(failed),
        ids("executions?started_after=" + from + "&started_before=" + now.minusSeconds(10)));
    assertEquals(List.of(), ids("executions?started_after=" + now.plusSeconds(1)));
    assertEquals(
        List.of(late, failed, done), ids("executions?started_after=2020-01-01T00:00:00%2B02:00"));
  }

  @Test
  void executorJobsByStatesAndReason() {
    rows.execution(agent, "succeeded", null, Instant.now());
    rows.execution(agent, "failed", "exception", Instant.now());
    String queued = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");
    String failed = ids("executor-jobs?reason=exception").get(0);
    assertEquals(List.of(queued, failed), ids("executor-jobs?state=failed,queued"));
    assertEquals(List.of(queued), ids("executor-jobs?state=queued,running"));
    assertEquals(3, ids("executor-jobs").size());
    assertEquals(List.of(), ids("executor-jobs?reason=no_main"));
  }

  @Test
  void builderJobsByStates() {
    assertEquals(1, ids("builder-jobs?state=queued,running").size());
    assertEquals(1, ids("builder-jobs").size());
    assertEquals(0, ids("builder-jobs?state=failed,cancelled").size());
  }

  private String agentNamed(String name) {
    String body = "{\"script\": \"\", \"name\": \"" + name + "\"}";
    return api.post("/v1/agents", body).get("id");
  }

  private List<String> names(String search) {
    return api.get("/v1/agents?q=" + search).get("data.name");
  }

  @Test
  void agentsByWordsOfTheirNames() {
    agentNamed("Billing_sync.eu");
    agentNamed("billing-export-10%");

    assertEquals(List.of("Billing_sync.eu"), names("sync%20BILLING"));
    assertEquals(List.of("Billing_sync.eu"), names("illing.sy"));
    assertEquals(List.of("billing-export-10%", "Billing_sync.eu"), names("bill*"));
    assertEquals(List.of(), names("illing*"));
    assertEquals(List.of("billing-export-10%"), names("bill%20exp*"));
    assertEquals(List.of("billing-export-10%"), names("billing%2010%25"));
    assertEquals(List.of(), names("b%25sync"));
    assertEquals(422, api.get("/v1/agents?q=" + "x".repeat(201)).status());
  }

  @Test
  void storesByWordsOfTheirNames() {
    api.post("/v1/datastore", "{\"name\": \"orders of may\"}");
    assertEquals(List.of("orders of may"), api.get("/v1/datastore?q=may_order*").get("data.name"));
    assertEquals(List.of(), api.get("/v1/datastore?q=may_rders*").get("data.name"));
  }

  @Test
  void executionsAndJobsByNamesOfAgents() {
    Instant now = Instant.now();
    String crawl = agentNamed("crawl");
    String news = agentNamed("crawl_news");
    String first = rows.execution(crawl, "succeeded", null, now);
    String second = rows.execution(news, "failed", "exception", now);
    String job = api.post("/v1/agents/" + news + "/execute", "{}").get("id");

    List<String> both = List.of(second, first);
    assertEquals(both, api.get("/v1/executions?agent=craw*").get("data.id"));
    assertEquals(both, api.get("/v1/executions?agent=RAWL").get("data.id"));
    assertEquals(List.of(first), api.get("/v1/executions?agent=crawl").get("data.id"));
    assertEquals(List.of(second), api.get("/v1/executions?agent=news%20crawl").get("data.id"));
    assertEquals(List.of(second), api.get("/v1/executions?agent=" + news).get("data.id"));
    assertEquals(List.of(), api.get("/v1/executions?agent=nobody").get("data.id"));
    assertEquals(List.of(job), api.get("/v1/executor-jobs?agent=news&state=queued").get("data.id"));
    api.delete("/v1/agents/" + news);
    assertEquals(List.of(second), api.get("/v1/executions?agent=crawl_news").get("data.id"));
  }

  @Test
  void executionsByRevision() {
    String first = rows.execution(agent, "succeeded", null, Instant.now());
    rows.run("update execution set agent_revision = 7 where id = '%s'", first);
    String second = rows.execution(agent, "succeeded", null, Instant.now());
    assertEquals(List.of(first), ids("executions?agent_revision=7"));
    assertEquals(List.of(second), ids("executions?agent_revision=1"));
  }

  @Test
  void listsAreCountedUpToALimit() {
    for (int i = 0; i < 3; i++) {
      rows.execution(agent, i == 0 ? "failed" : "succeeded", null, Instant.now());
    }
    String queued = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");
    api.post("/v1/agents/" + agent + "/execute", "{}");

    Answer failed = count("executions", "failed");
    assertEquals(List.of(1, false), List.of(failed.get("count"), failed.get("more")));
    Answer jobs = count("executor-jobs", "queued");
    assertEquals(List.of(2, false), List.of(jobs.get("count"), jobs.get("more")));
    assertEquals(
        api.get("/v1/executor-jobs/" + queued).<String>get("created_at"),
        jobs.get("oldest_created_at"));
    rows.run(
        """
        insert into executor_job (id, agent_id, agent_revision, state, created_at)
        select 'xjob_of_many_' || i, '%s', 1, 'cancelled', now() from generate_series(1, 10001) i""",
        agent);
    Answer many = count("executor-jobs", "cancelled");
    assertEquals(List.of(10_000, true), List.of(many.get("count"), many.get("more")));
    rows.run("delete from executor_job where id like 'xjob_of_many_%%'");
  }

  private Answer count(String list, String state) {
    return api.get("/v1/" + list + "/count?agent_id=" + agent + "&state=" + state);
  }

  @Test
  void howJobsWereSubmittedIsIncludedOnRequest() {
    String id = rows.execution(agent, "succeeded", null, Instant.now());
    rows.run(
        """
        update executor_job set payload = '{"n": "' || repeat('x', 300) || '"}', batch_id = 'xjob_batch'
        where id = (select executor_job_id from execution where id = '%s')""",
        id);
    Answer answer = api.get("/v1/executions?include=submission&agent_id=" + agent);
    assertEquals("xjob_batch", answer.get("data[0].submission.batch_id"));
    assertEquals("{\"n\": \"" + "x".repeat(193), answer.get("data[0].submission.payload_preview"));
    assertNull(answer.get("data[0].submission.schedule_id"));
    assertNull(api.get("/v1/executions/" + id).get("submission"));
    assertEquals(422, api.get("/v1/executions?include=payload").status());
  }

  @Test
  void mistakesAreReported() {
    for (String list :
        List.of(
            "executions?state=runing",
            "executions?state=running,",
            "executions?reason=exeption",
            "executions?started_after=yesterday",
            "executions?started_before=2026-11-21T18:12:41",
            "executor-jobs?state=lost",
            "executor-jobs?reason=exception,no_main",
            "builder-jobs?state=timed_out")) {
      assertEquals(422, api.get("/v1/" + list).status(), list);
    }
    Answer answer = api.get("/v1/executions?state=runing");
    assertEquals("?state", answer.get("errors[0].pointer"));
    assertTrue(answer.<String>get("detail").contains("Did you mean running?"), answer.text());
  }

  @Test
  void noListReadsAWholeTable() throws SQLException {
    Map<String, Sql> lists = new LinkedHashMap<>();
    Instant now = Instant.now();
    lists.put("all", executions(List.of(), null, null));
    lists.put("running", executions(List.of(ExecutionState.RUNNING), null, null));
    lists.put(
        "unsuccessful",
        executions(List.of(ExecutionState.TIMED_OUT, ExecutionState.LOST), null, null));
    lists.put(
        "by reason",
        executions(List.of(ExecutionState.FAILED, ExecutionState.LOST), "exception", null));
    lists.put("of a time", executions(List.of(), null, now));
    for (List<ExecutorJobState> states :
        List.of(
            List.of(ExecutorJobState.QUEUED, ExecutorJobState.RUNNING),
            List.of(ExecutorJobState.RUNNING),
            List.<ExecutorJobState>of())) {
      lists.put(
          "jobs " + states,
          Sql.of(
              ExecutorJob.listing(
                  new ExecutorJob.Filter(null, null, null, null, null, states, null, null)
                      .conditions())));
    }
    assertEquals("", ManyExecutions.wholeReads(dataSource, lists));
  }

  private static Sql executions(List<ExecutionState> states, String reason, Instant time) {
    return Sql.of(
        Execution.listing(
            new Execution.Filter(
                    null, null, null, null, null, null, states, reason, null, time, time)
                .conditions(),
            true));
  }
}
