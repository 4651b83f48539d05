package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
                  new ExecutorJob.Filter(null, null, null, states, null).conditions())));
    }
    assertEquals("", ManyExecutions.wholeReads(dataSource, lists));
  }

  private static Sql executions(List<ExecutionState> states, String reason, Instant time) {
    return Sql.of(
        Execution.listing(
            new Execution.Filter(null, null, null, null, states, reason, time, time).conditions()));
  }
}
