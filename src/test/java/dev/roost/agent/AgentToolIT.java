package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.ManyExecutions;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import dev.roost.db.Database;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.hibernate.Session;
import org.hibernate.jdbc.ReturningWork;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The names and descriptions under which language models are offered agents. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class AgentToolIT {
  @Inject Database database;

  private Api api;

  /** A name that only this test has. */
  private String mine;

  @BeforeEach
  void prepare() {
    api = Api.as(Role.WRITE);
    mine = "t" + UUID.randomUUID().toString().substring(0, 8);
  }

  private Answer create(String fields) {
    return api.post(
        "/v1/agents",
        "{\"script\": \"\", \"store_ids\": []" + (fields.isEmpty() ? "" : ", " + fields) + "}");
  }

  private String agent() {
    return "/v1/agents/" + create("").get("id");
  }

  private static String named(String name) {
    return "\"tool_name\": \"" + name + "\"";
  }

  private Answer name(String path, String name) {
    return api.patch(path, "{" + named(name) + "}");
  }

  private static void assertRefused(Answer answer, int status, String pointer, String code) {
    assertEquals(status, answer.status(), answer.text());
    assertEquals(pointer, answer.get("errors[0].pointer"), answer.text());
    assertEquals(code, answer.get("errors[0].code"), answer.text());
  }

  @Test
  void anAgentIsNoToolUntilItHasAName() {
    Answer made = create("");
    assertTrue(
        made.text().contains("\"tool_name\":null,\"tool_description\":null"), "both are there");
    String path = "/v1/agents/" + made.get("id");
    Answer named = api.patch(path, "{%s, \"tool_description\": \"Adds.\"}".formatted(named(mine)));
    assertEquals(200, named.status(), named.text());
    assertEquals(mine, named.get("tool_name"));
    assertEquals("Adds.", named.get("tool_description"));
    assertNotEquals(made.header("ETag"), named.header("ETag"));

    Answer other = api.patch(path, "{\"memory\": 128}");
    assertEquals(mine, other.get("tool_name"), "a field that is left out keeps its value");
    assertEquals("Adds.", other.get("tool_description"));

    Answer ended = api.patch(path, "{\"tool_name\": null}");
    assertNull(ended.get("tool_name"));
    assertEquals("Adds.", ended.get("tool_description"));
    assertNull(api.patch(path, "{\"tool_description\": null}").get("tool_description"));
    assertNull(api.get(path).get("tool_description"));
  }

  @Test
  void aNewAgentMayBeATool() {
    Answer made = create(named(mine) + ", \"tool_description\": \"Subtracts.\"");
    assertEquals(201, made.status(), made.text());
    assertEquals(mine, made.get("tool_name"));
    assertEquals("Subtracts.", made.get("tool_description"));
    Answer listed = api.get("/v1/agents?name=" + made.get("name"));
    assertEquals(List.of(mine), listed.get("data.tool_name"));
    assertEquals(List.of("Subtracts."), listed.get("data.tool_description"));
  }

  @Test
  void aNameHasAFewCharactersThatAllClientsTake() {
    String path = agent();
    String longest = mine + "-_A" + "z".repeat(64 - mine.length() - 3);
    assertEquals(longest, name(path, longest).get("tool_name"));
    for (String bad : List.of("", "a b", "a.b", "a/b", "ä", "a\\n", longest + "z")) {
      assertRefused(name(path, bad), 422, "/tool_name", "invalid_name");
    }
    assertRefused(name(path, "roost_list"), 422, "/tool_name", "reserved_name");
    assertRefused(api.patch(path, "{\"tool_name\": 7}"), 422, "/tool_name", "wrong_type");
    assertEquals(longest, api.get(path).get("tool_name"));
    assertRefused(create(named("roost_")), 422, "/tool_name", "reserved_name");
  }

  @Test
  void aDescriptionHasUpTo4096Characters() {
    String path = agent();
    String longest = "😀".repeat(4_096);
    Answer kept = api.patch(path, "{\"tool_description\": \"%s\"}".formatted(longest));
    assertEquals(longest, kept.get("tool_description"));
    Answer refused = api.patch(path, "{\"tool_description\": \"%sx\"}".formatted(longest));
    assertRefused(refused, 422, "/tool_description", "too_long");
    assertEquals(
        "tool_description has 4,097 characters; it can have at most 4,096.", refused.get("detail"));
  }

  @Test
  void aNameInUseIsAConflict() {
    String first = agent();
    String second = agent();
    assertEquals(200, name(first, mine).status());
    assertEquals(200, name(first, mine).status(), "its own name");
    Answer refused = name(second, mine);
    assertRefused(refused, 409, "/tool_name", "name_taken");
    assertEquals("conflict", refused.get("code"));
    assertEquals("An agent already has the tool name \"" + mine + "\".", refused.get("detail"));
    assertRefused(create(named(mine)), 409, "/tool_name", "name_taken");
    assertNull(api.get(second).get("tool_name"));
    assertEquals(200, name(second, mine.toUpperCase()).status(), "case matters");
  }

  @Test
  void aNameIsFreeAfterItsAgentIsDeletedOrGivesItUp() {
    String first = agent();
    name(first, mine);
    assertEquals(204, api.delete(first).status());
    String second = agent();
    assertEquals(200, name(second, mine).status());
    api.patch(second, "{\"tool_name\": null}");
    assertEquals(201, create(named(mine)).status());
  }

  @Test
  void toolsDoNotBelongToARevision() {
    String path = agent();
    assertEquals(1, (int) name(path, mine).get("revision"));
    api.patch(path, "{\"script\": \"two\", \"tool_description\": \"Newer.\"}");
    Answer back = api.post(path + "/roll-back", "{\"revision\": 1}");
    assertEquals(3, (int) back.get("revision"), back.text());
    assertEquals(mine, back.get("tool_name"));
    assertEquals("Newer.", back.get("tool_description"));
    assertTrue(!api.get(path + "/revisions").text().contains("tool_"), "of no revision");
  }

  @Test
  void ofManyWhoTakeANameOneSucceeds() {
    List<String> paths = Stream.generate(this::agent).limit(4).toList();
    for (int round = 0; round < 5; round++) {
      String name = mine + "_" + round;
      List<CompletableFuture<Answer>> sent = new ArrayList<>();
      paths.forEach(path -> sent.add(CompletableFuture.supplyAsync(() -> name(path, name))));
      for (int i = 0; i < 2; i++) {
        sent.add(CompletableFuture.supplyAsync(() -> create(named(name))));
      }
      List<Integer> statuses = sent.stream().map(each -> each.join().status()).sorted().toList();
      assertEquals(List.of(409, 409, 409, 409, 409), statuses.subList(1, 6));
      assertTrue(statuses.get(0) / 100 == 2, statuses.toString());
    }
  }

  @Test
  void aNameThatIsTakenAfterTheCheckIsAConflictToo() {
    String first = agent();
    String second = agent();
    CompletableFuture<Answer> waiting =
        database.inTransaction(
            connection -> {
              take(connection, first.substring("/v1/agents/".length()));
              CompletableFuture<Answer> sent =
                  CompletableFuture.supplyAsync(() -> name(second, mine));
              Await.until("the request waits for the index", () -> isAwaited(connection));
              return sent;
            });
    Answer refused = waiting.join();
    assertEquals(409, refused.status(), refused.text());
    assertEquals("An agent already has this tool name.", refused.get("detail"));
    assertNull(api.get(second).get("tool_name"));
  }

  private void take(Connection connection, String id) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement("update agent set tool_name = ? where id = ?")) {
      update.setString(1, mine);
      update.setString(2, id);
      assertEquals(1, update.executeUpdate());
    }
  }

  private static boolean isAwaited(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                """
                select exists (select from pg_stat_activity a
                  where pg_backend_pid() = any(pg_blocking_pids(a.pid)))""")) {
      return row.next() && row.getBoolean(1);
    }
  }

  @Test
  void toolsAreFoundInTheOrderOfTheirBytes() {
    List<String> names = List.of(mine + "-", mine + "A", mine + "_", mine + "a");
    List<String> shuffled = new ArrayList<>(names);
    Collections.shuffle(shuffled);
    shuffled.forEach(name -> assertEquals(201, create(named(name)).status()));
    String deleted = "/v1/agents/" + create(named(mine + "0")).get("id");
    api.delete(deleted);

    assertEquals(names, found(mine, 4));
    assertEquals(names.subList(0, 2), found(mine, 2));
    assertEquals(names.subList(2, 4), found(names.get(1), 2));
    assertEquals(1, found("", 1).size());
    assertEquals(
        List.of(mine + "A"),
        found(connection -> OfferedTool.find(connection, mine + "A").stream().toList()));
    assertEquals(
        List.of(), found(connection -> OfferedTool.find(connection, mine + "0").stream().toList()));
  }

  @Test
  void toolsAreFoundInTheirIndex() {
    assertEquals(1, scans(() -> found(mine, 10)));
    assertEquals(
        1, scans(() -> found(connection -> OfferedTool.find(connection, mine).stream().toList())));
    assertEquals(1, scans(() -> Agent.tool(mine)));
  }

  /** How often the index is read of a table with many agents. */
  private static int scans(Runnable read) {
    QuarkusTransaction.begin();
    try {
      var entities = Agent.getEntityManager();
      entities
          .unwrap(Session.class)
          .doWork(
              connection -> {
                try (Statement statement = connection.createStatement()) {
                  ManyExecutions.fill(statement);
                }
              });
      read.run();
      return ((Number)
              entities
                  .createNativeQuery(
                      "select pg_stat_get_xact_numscans(cast('agent_tool_name' as regclass))")
                  .getSingleResult())
          .intValue();
    } finally {
      QuarkusTransaction.rollback();
    }
  }

  private static List<String> found(String after, int most) {
    return found(connection -> OfferedTool.page(connection, after, most));
  }

  private static List<String> found(ReturningWork<List<OfferedTool>> read) {
    return QuarkusTransaction.joiningExisting()
        .call(() -> Agent.getEntityManager().unwrap(Session.class).doReturningWork(read))
        .stream()
        .map(OfferedTool::name)
        .toList();
  }
}
