package dev.roost.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@QuarkusTest
@WithTestResource(TestDatabase.class)
@Timeout(120)
class EventsIT {
  @Inject DataSource dataSource;
  @Inject EventLog log;

  private Api api;

  @BeforeEach
  void setUp() {
    api = Api.as(Role.WRITE);
  }

  @Test
  void everyStateChangeIsAnEvent() {
    long before = log.latest();
    String agent = api.post("/v1/agents", "{\"script\": \"def main():\\n  return 1\"}").get("id");
    String job = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");
    api.post("/v1/executor-jobs/" + job + "/cancel", "");
    api.patch("/v1/agents/" + agent, "{\"timeout\": 5}");
    api.delete("/v1/agents/" + agent);
    assertEquals(
        List.of(
            "agent.created",
            "executor_job.queued",
            "executor_job.cancelled",
            "agent.updated",
            "agent.deleted"),
        types(before, "&types=agent.*,executor_job.*&agent_id=" + agent, 5));
    String ofBuilds = "&types=builder_job.*&agent_id=" + agent;
    Await.until(
        "the build is cancelled",
        () ->
            page(before, ofBuilds)
                .<List<String>>get("data.type")
                .contains("builder_job.cancelled"));
    List<String> builds = page(before, ofBuilds).get("data.type");
    assertEquals("builder_job.queued", builds.get(0));
    assertEquals("builder_job.cancelled", builds.get(builds.size() - 1));
    Answer ofJob = page(before, "&subject=" + job);
    assertEquals(List.of("queued", "cancelled"), ofJob.get("data.data.state"));
    assertEquals(List.of(agent, agent), ofJob.get("data.agent_id"));
    assertEquals(
        List.of("executor_job.cancelled"),
        page(before, "&agent_id=" + agent + "&types=executor_job.cancelled,execution.*")
            .get("data.type"));
  }

  @Test
  void everyTypeThatIsNotedIsDocumented() throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        var rows = statement.executeQuery("select distinct type from event")) {
      while (rows.next()) {
        assertTrue(EventTypes.ALL.contains(rows.getString(1)), rows.getString(1));
      }
    }
  }

  @Test
  void mistakesAreNamed() {
    Answer answer = api.get("/v1/events?types=execution.suceeded,execution.*");
    assertEquals(422, answer.status());
    assertTrue(answer.text().contains("Did you mean execution.succeeded?"), answer.text());
    assertEquals(422, api.get("/v1/events?after=-1").status());
    assertEquals(422, api.get("/v1/events?after=99999999999").status());
    assertEquals(
        422, api.get("/v1/events", "Accept", "text/event-stream", "Last-Event-ID", "x").status());
    assertEquals(401, Api.withKey(null).get("/v1/events").status());
    assertEquals(200, Api.as(Role.READ).get("/v1/events").status());
  }

  @Test
  void whatRetentionHasRemovedIsGone() throws SQLException {
    String ours = "&subject=agent_gone"; // Among whatever the application notes meanwhile.
    List<Long> positions = note("agent.updated", "agent_gone", 3);
    long last = positions.get(2);
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("delete from event where position <= " + (last - 1));
      statement.execute("update event_log set removed_to = " + (last - 1));
    }
    Answer gone = api.get("/v1/events?after=" + (last - 2));
    assertEquals(410, gone.status(), gone.text());
    assertEquals("gone", gone.get("code"));
    assertTrue(gone.text().contains("continue after " + last), gone.text());
    assertEquals(1, api.get("/v1/events?after=" + (last - 1) + ours).<List<?>>get("data").size());
    assertEquals(1, api.get("/v1/events?after=0" + ours).<List<?>>get("data").size());
  }

  /** The one that began first commits last: a reader that went by identifiers would miss it. */
  @Test
  void aTransactionThatCommitsLateIsNotMissed() throws SQLException {
    long before = log.latest();
    try (Connection early = dataSource.getConnection()) {
      early.setAutoCommit(false);
      EventLog.note(early, "agent.updated", "agent_early", null, "{}");
      long seen = note("agent.updated", "agent_late", 1).get(0);
      assertEquals(List.of(), page(before, "&subject=agent_early").get("data.id"));
      early.commit();
      Await.until(
          "the early one is there",
          () -> page(seen, "&subject=agent_early").<List<?>>get("data.id").size() == 1);
    }
  }

  /** Writers, of which some take their time to commit, and a consumer that is cut off at random. */
  @Test
  void aConsumerThatIsCutOffAtRandomMissesNothingAndKnowsWhatItHasSeen() throws Exception {
    long before = log.latest();
    int writers = 4;
    int each = 250;
    AtomicBoolean failed = new AtomicBoolean();
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int writer = 0; writer < writers; writer++) {
      int number = writer;
      all.add(
          CompletableFuture.runAsync(
              () -> {
                try {
                  write(number, each);
                } catch (SQLException e) {
                  failed.set(true);
                }
              }));
    }
    Random random = new Random(20261122);
    List<String> seen = new ArrayList<>();
    TreeSet<Long> positions = new TreeSet<>();
    long last = before;
    long checkpoint = before; // what it has written down; it may have seen more
    int connections = 0;
    int again = 0;
    while (seen.size() < writers * each) {
      connections++;
      // The cut-off loses what was on its way, and what it has seen since its checkpoint comes
      // again.
      int toRead = 1 + random.nextInt(120);
      int toLose = random.nextInt(10);
      int known = positions.tailSet(checkpoint, false).size();
      List<Map<String, String>> events =
          follow(checkpoint, toRead + toLose, known + writers * each - seen.size());
      for (Map<String, String> event : events.subList(0, Math.min(toRead, events.size()))) {
        long position = Long.parseLong(event.get("id"));
        if (!positions.add(position)) {
          again++;
          continue;
        }
        assertTrue(position > last, "positions grow");
        last = position;
        seen.add(event.get("subject"));
        if (seen.size() % 40 == 0) {
          checkpoint = position;
        }
      }
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
    assertFalse(failed.get());
    assertEquals(writers * each, new TreeSet<>(seen).size(), "each one");
    assertTrue(again > 0, "some came again");
    for (int writer = 0; writer < writers; writer++) {
      String prefix = "agent_w" + writer + "_";
      List<String> own = seen.stream().filter(subject -> subject.startsWith(prefix)).toList();
      assertEquals(own.stream().sorted().toList(), own, "in order");
    }
    System.out.printf(
        "%d events over %d connections, %d seen twice%n", seen.size(), connections, again);
  }

  private void write(int writer, int count) throws SQLException {
    Random random = new Random(writer);
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < count; i++) {
        String subject = "agent_w%d_%05d".formatted(writer, i);
        EventLog.note(connection, "agent.updated", subject, null, "{\"test\": 1}");
        if (random.nextInt(5) == 0) {
          try (Statement statement = connection.createStatement()) {
            statement.execute("select pg_sleep(" + random.nextInt(20) / 1000.0 + ")");
          }
          connection.commit();
        }
      }
      connection.commit();
    }
  }

  /** The next events of a stream, which is then cut off. */
  private List<Map<String, String>> follow(long after, int most, int left) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(
                    "http://localhost:" + RestAssured.port + "/v1/events?types=agent.updated"))
            .header("Authorization", "Bearer " + api.key())
            .header("Accept", "text/event-stream")
            .header("Last-Event-ID", Long.toString(after))
            .build();
    try (Stream<String> lines =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofLines()).body()) {
      return lines
          .filter(line -> line.startsWith("data:") && line.contains("\"test\""))
          .map(line -> Map.of("id", member(line, "id"), "subject", member(line, "subject")))
          .limit(Math.min(most, left))
          .toList();
    }
  }

  private static String member(String json, String name) {
    Matcher matcher = Pattern.compile('"' + name + "\":\"([^\"]*)\"").matcher(json);
    assertTrue(matcher.find(), json);
    return matcher.group(1);
  }

  /** Answers their positions. */
  private List<Long> note(String type, String subject, int times) throws SQLException {
    long before = log.latest();
    try (Connection connection = dataSource.getConnection()) {
      for (int i = 0; i < times; i++) {
        EventLog.note(connection, type, subject, null, "{}");
      }
    }
    String ours = "&types=" + type + "&subject=" + subject;
    Await.until(
        "they have positions", () -> page(before, ours).<List<?>>get("data.id").size() == times);
    return page(before, ours).<List<String>>get("data.id").stream().map(Long::valueOf).toList();
  }

  private List<String> types(long after, String query, int count) {
    Await.until(count + " events", () -> page(after, query).<List<?>>get("data").size() >= count);
    return page(after, query).get("data.type");
  }

  private Answer page(long after, String query) {
    // 0 would be the oldest of all.
    Answer answer = api.get("/v1/events?limit=200&after=" + after + query);
    assertEquals(200, answer.status(), answer.text());
    return answer;
  }
}
