package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.db.Database;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What executors report of their imports, who gets it, and who sees it. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class PreloadIT {
  private static final String REPORT =
      """
      {"revision": %d, "import_seconds": %s, "modules": ["pandas", "numpy", "pandas._libs", "json"],
       "packages": ["numpy", "pandas"],
       "left_out": [{"module": "grpc", "reason": "starts a thread"}], "memory_bytes": 48123904}""";

  @Inject ExecutorTokens tokens;
  @Inject Database database;

  private final Api link = Api.withKey(null);
  private Api api;
  private Rows rows;
  private String agent;

  @BeforeEach
  void createAnAgent() {
    api = Api.as(Role.WRITE);
    rows = new Rows(database);
    agent = agent("{\"script\": \"def main(): pass\", \"max_concurrency\": 100}");
  }

  private String agent(String json) {
    String id = api.post("/v1/agents", json).get("id");
    built(id);
    return id;
  }

  private void built(String id) {
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", id);
    rows.run("update agent set running_revision = revision where id = ?", id);
  }

  private String executor(String agent, int revision) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                Executor.make(agent, revision, "build_", Instant.now(), Duration.ofSeconds(300))
                    .orElseThrow()
                    .id);
  }

  private Answer report(String executor, String json) {
    return link.post(
        "/internal/v1/executors/" + executor + "/preload",
        json,
        "Authorization",
        "Bearer " + tokens.make(executor));
  }

  private static String report(int revision, String seconds) {
    return REPORT.formatted(revision, seconds);
  }

  /** What an executor that doesn't have the script is given of the agent. */
  private Map<String, Object> agentOfWork(int revision) {
    String executor = executor(agent, revision);
    api.post("/v1/agents/" + agent + "/execute", "{}");
    Answer work =
        link.post(
            "/internal/v1/executors/" + executor + "/poll?wait=30",
            "{\"protocol\": 1, \"polls\": 1, \"prepared\": false}",
            "Authorization",
            "Bearer " + tokens.make(executor));
    assertEquals(200, work.status(), work.text());
    Map<String, Object> given = work.get("agent");
    assertTrue(given.containsKey("preload"), work.text());
    return given;
  }

  private Answer read() {
    return api.get("/v1/agents/" + agent);
  }

  @Test
  void theNextExecutorImportsWhatTheFirstHasReported() {
    assertEquals(nullable("modules"), agentOfWork(1).get("preload"));
    Answer answer = report(executor(agent, 1), report(1, "0.231"));
    assertEquals(204, answer.status(), answer.text());
    assertEquals(
        Map.of("modules", List.of("pandas", "numpy", "pandas._libs", "json")),
        agentOfWork(1).get("preload"),
        "in the order of the report");
  }

  private static Map<String, Object> nullable(String key) {
    Map<String, Object> map = new java.util.HashMap<>();
    map.put(key, null);
    return map;
  }

  @Test
  void anAgentThatTurnsItOffPreloadsNothing() {
    report(executor(agent, 1), report(1, "0.231"));
    api.patch("/v1/agents/" + agent, "{\"preload\": \"off\"}");
    built(agent);
    assertNull(agentOfWork(2).get("preload"));
    assertNull(read().get("preloaded"));
    Answer refused = report(executor(agent, 2), report(2, "0.231"));
    assertEquals(409, refused.status());
    assertEquals("Executors of this revision import nothing in advance.", refused.get("detail"));
    assertEquals(0, rows.count("agent_preload where agent_id = ? and revision = 2", agent));
  }

  @Test
  void aReportIsShownWithItsAgent() {
    assertNull(read().get("preloaded"));
    Answer before = read();
    report(executor(agent, 1), report(1, "0.231"));
    Answer found = read();
    assertEquals(1, (int) found.get("preloaded.revision"));
    assertEquals(4, (int) found.get("preloaded.modules"));
    assertEquals(List.of("numpy", "pandas"), found.get("preloaded.packages"));
    assertEquals(0.231, (double) found.get("preloaded.import_seconds"));
    assertEquals(48_123_904, (int) found.get("preloaded.memory_bytes"));
    assertEquals(
        List.of(Map.of("module", "grpc", "reason", "starts a thread")),
        found.get("preloaded.left_out"));
    Instant stored = Instant.parse(found.<String>get("preloaded.updated_at"));
    assertTrue(Duration.between(stored, Instant.now()).abs().toMinutes() < 5);
    assertEquals(before.header("ETag"), found.header("ETag"), "the agent was not changed");

    Answer changed = api.patch("/v1/agents/" + agent, "{\"memory\": 64}");
    assertEquals(4, (int) changed.get("preloaded.modules"));
    Answer list = api.get("/v1/agents?limit=1");
    assertEquals(agent, list.get("data[0].id"));
    assertNull(list.get("data[0].preloaded"), "lists don't read it");
    assertTrue(list.text().contains("\"preloaded\":null"));
  }

  @Test
  void theRevisionThatRunsIsShown() {
    report(executor(agent, 1), report(1, "0.231"));
    api.patch("/v1/agents/" + agent, "{\"requirements\": \"humanize==4.13.0\"}");
    assertEquals(1, (int) read().get("running_revision"));
    assertEquals(1, (int) read().get("preloaded.revision"));
    built(agent);
    assertNull(read().get("preloaded"), "not known of revision 2 yet");
    report(executor(agent, 2), report(2, "0.5"));
    assertEquals(2, (int) read().get("preloaded.revision"));
  }

  @Test
  void aLaterReportReplacesAnEarlierOneAndTheSameOneChangesNothing() {
    report(executor(agent, 1), report(1, "0.231"));
    String first = row();
    assertEquals(204, report(executor(agent, 1), report(1, "0.231")).status());
    assertEquals(first, row(), "it was not written again");
    String later =
        """
        {"revision": 1, "import_seconds": 0, "modules": [], "packages": [], "left_out": [],
         "memory_bytes": 0}""";
    assertEquals(204, report(executor(agent, 1), later).status());
    assertNotEquals(first, row());
    Answer found = read();
    assertEquals(0, (int) found.get("preloaded.modules"));
    assertEquals(List.of(), found.get("preloaded.packages"));
    assertEquals(List.of(), found.get("preloaded.left_out"));
    assertEquals(Map.of("modules", List.of()), agentOfWork(1).get("preload"));
  }

  /** Identifies the row's version. */
  private String row() {
    return rows.text("select ctid || ' ' || xmin from agent_preload where agent_id = ?", agent);
  }

  @Test
  void anExecutorReportsItsOwnRevisionOnly() {
    String executor = executor(agent, 1);
    Answer refused = report(executor, report(2, "0.231"));
    assertEquals(409, refused.status());
    assertEquals(
        "The executor runs revision 1 of its agent, not revision 2.", refused.get("detail"));
    api.patch("/v1/agents/" + agent, "{\"script\": \"two\"}");
    assertEquals(409, report(executor, report(2, "0.231")).status());
    assertEquals(409, report("executor_unknown", report(1, "0.231")).status());
    rows.run("update executor set state = 'ended' where id = ?", executor);
    assertEquals(409, report(executor, report(1, "0.231")).status());
    assertEquals(0, rows.count("agent_preload where agent_id = ?", agent));
  }

  @Test
  void anExecutorReportsForItselfOnly() {
    String path = "/internal/v1/executors/" + executor(agent, 1) + "/preload";
    String foreign = executor(agent("{\"script\": \"one\"}"), 1);
    String[] bearer = {"Authorization", "Bearer " + tokens.make(foreign)};
    assertEquals(403, link.post(path, report(1, "0.231"), bearer).status());
    assertEquals(401, link.post(path, report(1, "0.231")).status());
    assertEquals(401, api.post(path, report(1, "0.231")).status(), "a key is no token");
    assertEquals(0, rows.count("agent_preload where agent_id = ?", agent));
  }

  @Test
  void aMalformedReportIsRefusedAndStoresNothing() {
    String executor = executor(agent, 1);
    Answer invalid = report(executor, report(1, "-1"));
    assertEquals(422, invalid.status());
    assertEquals("/import_seconds", invalid.get("errors[0].pointer"));
    assertEquals(422, report(executor, "{}").status());
    assertEquals(400, report(executor, "{").status());
    assertEquals(413, report(executor, report(1, "0.231") + " ".repeat(1 << 20)).status());
    assertEquals(0, rows.count("agent_preload where agent_id = ?", agent));
  }

  @Test
  void whatTextColumnsCannotHoldIsReplaced() {
    String json =
        """
        {"revision": 1, "import_seconds": 0, "modules": [], "packages": [], "memory_bytes": 0,
         "left_out": [{"module": "a", "reason": "\\u0000\\ud800"}]}""";
    Answer answer = report(executor(agent, 1), json);
    assertEquals(204, answer.status(), answer.text());
    assertEquals("\ufffd\ufffd", read().get("preloaded.left_out[0].reason"));
  }

  @Test
  void theLargestReportIsStoredAndItsViewIsShort() {
    List<String> modules =
        IntStream.range(0, 5_000)
            .mapToObj(i -> "\"%sp%d.m\"".formatted("x".repeat(180), i))
            .toList();
    List<String> leftOut =
        IntStream.range(0, 1_000)
            .mapToObj(i -> "{\"module\": \"m%d\", \"reason\": \"r\"}".formatted(i))
            .toList();
    String json =
        """
        {"revision": 1, "import_seconds": 1, "modules": %s, "packages": ["a"],
         "left_out": %s, "memory_bytes": 1}"""
            .formatted(modules, leftOut);
    assertEquals(204, report(executor(agent, 1), json).status());
    Answer found = read();
    assertEquals(5_000, (int) found.get("preloaded.modules"));
    List<Object> shown = found.get("preloaded.left_out");
    assertEquals(200, shown.size());
    assertEquals(
        1_000,
        rows.count("unnest((select left_out from agent_preload where agent_id = ?)) m", agent));
  }

  @Test
  void aReportGoesWithItsRevision() {
    agent = agent("{\"script\": \"one\", \"store_ids\": []}");
    report(executor(agent, 1), report(1, "0.231"));
    assertEquals(1, rows.count("agent_preload where agent_id = ?", agent));
    rows.run("delete from agent_revision where agent_id = ?", agent);
    assertEquals(0, rows.count("agent_preload where agent_id = ?", agent));
    rows.run("delete from agent where id = ?", agent);
  }
}
