package dev.roost.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.HistoryRows;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What executions leave behind is found, and nothing else. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class SearchIT {
  private static final AtomicLong NUMBERS = new AtomicLong();

  @Inject Database database;
  @Inject SearchIndexing indexing;

  private Api api;
  private HistoryRows rows;

  /** A word that no other test has. */
  private String word;

  @BeforeEach
  void begin() {
    api = Api.as(Role.READ);
    rows = new HistoryRows(database);
    word = "zz" + NUMBERS.incrementAndGet() + "word";
  }

  private void line(String execution, int seq, String level, String message, Instant time) {
    rows.run(
        """
        insert into log_entry (owner_id, seq, time, stream, level, message, continued)
        values ('%s', %s, '%s', '%s', %s, '%s', false)""",
        execution,
        seq,
        time,
        level == null ? "stdout" : "logging",
        level == null ? "null" : "'" + level + "'",
        message.replace("'", "''"));
    rows.run(
        "update execution set log_entries = greatest(log_entries, %s) where id = '%s'",
        seq, execution);
  }

  /** An execution of that agent that ends with these lines. */
  private String ended(String agent, String... lines) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    String id = rows.execution(agent, "running", null, now);
    for (int i = 0; i < lines.length; i++) {
      line(id, i + 1, null, lines[i], now);
    }
    end(id);
    return id;
  }

  private void end(String id) {
    rows.run("update execution set state = 'succeeded', finished_at = now() where id = '%s'", id);
  }

  private Answer search(String q, String... more) {
    Answer answer =
        api.get(
            "/v1/search?q=" + URLEncoder.encode(q, StandardCharsets.UTF_8) + String.join("", more));
    assertEquals(200, answer.status(), answer::text);
    return answer;
  }

  private List<String> executions(String q, String... more) {
    return search(q, more).get("data.execution_id");
  }

  private void awaitFound(String q, int count) {
    Await.until(count + " of " + q, () -> executions(q).size() == count);
  }

  @Test
  void findsALineWithTheLinesAroundIt() {
    String id =
        ended("agent_a", "one", "two", "three", "Connection " + word + " reset", "five", "six");
    awaitFound(word, 1);

    Answer found = search("reset " + word);
    assertEquals(List.of(id), found.get("data.execution_id"));
    assertEquals("logs", found.get("data[0].in"));
    assertEquals("agent_a", found.get("data[0].agent_id"));
    assertNull(found.get("data[0].agent_name"));
    assertEquals(4, (int) found.get("data[0].seq"));
    assertEquals(List.of("two", "three"), found.get("data[0].before.text"));
    assertEquals(List.of("five", "six"), found.get("data[0].after.text"));
    List<Map<String, Object>> fragments = found.get("data[0].fragments");
    assertEquals(
        List.of(word, "reset"),
        fragments.stream()
            .filter(fragment -> fragment.get("match").equals(true))
            .map(fragment -> fragment.get("text"))
            .toList());
    assertEquals("/executions/" + id + "?line=4", found.get("data[0].path"));
    assertFalse(found.<Boolean>get("timed_out"));
    assertNull(found.get("next_cursor"));
    assertEquals(List.of("three"), search(word, "&context=1").get("data[0].before.text"));

    assertEquals(List.of(id), executions("\"" + word + " reset\""));
    assertEquals(List.of(), executions("\"reset " + word + "\""));
    assertEquals(List.of(id), executions(word.substring(0, word.length() - 2)), "the last word");
    assertEquals(List.of(), executions(word.substring(0, word.length() - 2) + " reset"));
    assertEquals(List.of(id), executions(word.substring(0, word.length() - 2) + "* reset"));
    assertEquals(List.of(), executions(word + " five"), "of another line");
  }

  @Test
  void filtersByLevelStreamAgentAndTime() {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    String id = rows.execution("agent_b", "running", null, now);
    line(id, 1, "INFO", word + " info", now.minusSeconds(100));
    line(id, 2, "ERROR", word + " error", now.minusSeconds(50));
    line(id, 3, null, word + " printed", now);
    end(id);
    ended("agent_c", word + " of another agent");
    awaitFound(word, 4);

    assertEquals(List.of(2), search(word, "&level=ERROR").get("data.seq"));
    assertEquals(List.of(2, 1), search(word, "&level=INFO,ERROR").get("data.seq"));
    assertEquals(List.of(2, 1), search(word, "&stream=logging").get("data.seq"));
    assertEquals(List.of(3, 2, 1), search(word, "&agent_id=agent_b").get("data.seq"));
    assertEquals(List.of(), executions(word, "&agent=nobody-has-this-name"));
    assertEquals(List.of(1), search(word, "&until=" + now.minusSeconds(60)).get("data.seq"));
    assertEquals(
        List.of(2),
        search(word, "&agent_id=agent_b&since=" + now.minusSeconds(60) + "&until=" + now)
            .get("data.seq"));
  }

  @Test
  void findsErrorsPayloadsAndResults() {
    Instant now = Instant.now();
    String id = rows.execution("agent_d", "running", null, now);
    rows.run(
        "update executor_job set payload = '{\"customer\": \"%s\"}' where id = (select executor_job_id from execution"
            + " where id = '%s')",
        word, id);
    rows.run(
        """
        update execution set state = 'failed', reason = 'exception', finished_at = now(), return_value = '["%1$s"]',
          error = '{"type": "ValueError", "message": "first\\n%1$s", "traceback": null}'
        where id = '%2$s'""",
        word, id);
    awaitFound(word, 3);
    List<String> all = search(word).get("data.in");
    assertEquals(List.of("errors", "payloads", "results"), all.stream().sorted().toList());
    assertEquals(List.of("errors"), search(word, "&in=errors").get("data.in"));
    assertEquals(
        List.of("payloads"), search("customer " + word, "&in=payloads,logs").get("data.in"));
    assertEquals(List.of(), search(word, "&level=ERROR").get("data.in"), "they have no level");
    assertEquals("/executions/" + id, search(word).get("data[0].path"));
  }

  @Test
  void pagesHaveEachMatchOnce() {
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      String[] lines = new String[40];
      for (int j = 0; j < lines.length; j++) {
        lines[j] = j % 2 == 0 ? word + " " + j : "between";
      }
      String id = ended("agent_e", lines);
      for (int j = 0; j < lines.length; j += 2) {
        expected.add(0, id + ":" + (j + 1));
      }
      awaitFound(word, 20 * (i + 1) > 50 ? 50 : 20 * (i + 1));
    }
    List<String> found = new ArrayList<>();
    String cursor = null;
    do {
      Answer page = search(word, "&limit=7", cursor == null ? "" : "&cursor=" + cursor);
      List<Map<String, Object>> data = page.get("data");
      data.forEach(match -> found.add(match.get("execution_id") + ":" + match.get("seq")));
      cursor = page.get("next_cursor");
    } while (cursor != null);
    assertEquals(expected, found);
  }

  @Test
  void linesOfARunningExecutionAreFoundOnce() {
    Instant now = Instant.now();
    String id = rows.execution("agent_f", "running", null, now);
    line(id, 1, null, word + " first", now);
    Await.until("the first line", () -> executions(word).size() == 1);
    line(id, 2, null, word + " second", now);
    end(id);
    awaitFound(word, 2);
    assertEquals(List.of(2, 1), search(word).get("data.seq"));
  }

  @Test
  void aLongLogIsIndexedInSteps() {
    Instant now = Instant.now();
    String id = rows.execution("agent_g", "running", null, now);
    rows.run(
        """
        insert into log_entry (owner_id, seq, time, stream, message, continued)
        select '%s', i, now(), 'stdout', case when i %% 4000 = 0 then '%s' else 'line ' || i end, false
        from generate_series(1, 12000) i""",
        id, word);
    rows.run("update execution set log_entries = 12000 where id = '%s'", id);
    end(id);
    awaitFound(word, 3);
    assertEquals(List.of(12000, 8000, 4000), search(word).get("data.seq"));
  }

  @Test
  void executionsFromBeforeTheIndexAreFoundLater() {
    Instant then = Instant.now().minus(Duration.ofDays(3));
    String id = rows.execution("agent_h", "succeeded", null, then);
    line(id, 1, null, word + " long ago", then);
    String other = rows.execution("agent_h", "succeeded", null, then.minus(Duration.ofDays(5)));
    line(other, 1, null, word + " longer ago", then);
    Await.until("the past", () -> search(word).get("indexed_from") == null);
    rows.run("update search_progress set past_time = begun_at, past_id = ''");
    awaitFound(word, 2);
    assertEquals(List.of(id, other), executions(word));
    Await.until("the end", () -> search(word).get("indexed_from") == null);
  }

  @Test
  void anIncompleteIndexIsReported() {
    Await.until("the past", () -> search(word).get("indexed_from") == null);
    database.once(
        connection -> {
          connection.setAutoCommit(false);
          try {
            Sql.of("update search_progress set past_time = begun_at, past_id = ''")
                .with()
                .update(connection);
            connection.commit();
          } finally {
            connection.setAutoCommit(true);
          }
          return null;
        });
    // Between two steps, or already after the last one.
    Answer answer = search(word);
    Object from = answer.get("indexed_from");
    if (from != null) {
      assertTrue(Instant.parse((String) from).isBefore(Instant.now()));
    }
    Await.until("the end", () -> search(word).get("indexed_from") == null);
  }

  @Test
  void whatRetentionDeletesIsFoundNoMore() {
    String id = ended("agent_i", word);
    awaitFound(word, 1);
    rows.run("delete from log_entry where owner_id = '%s'", id);
    assertEquals(List.of(), executions(word), "the line");
    database.inTransaction(
        connection -> SearchSegments.remove(connection, Instant.now().plusSeconds(60)));
    int chunks =
        database.once(
            connection ->
                Sql.of("select count(*) as n from search_chunk")
                    .with()
                    .first(connection, row -> row.getInt("n"))
                    .orElseThrow());
    assertEquals(0, chunks, "the index");
    ended("agent_i", word);
    awaitFound(word, 1);
  }

  @Test
  void aSearchThatTakesTooLongEndsAndCanBeContinued() {
    String id = ended("agent_j", word + " late");
    awaitFound(word, 1);
    Answer cut = whileLocked("search_chunk", () -> search(word));
    assertEquals(true, cut.get("timed_out"));
    assertEquals(List.of(), cut.get("data"));
    String next = cut.get("next_cursor");
    assertEquals(List.of(id), executions(word, "&cursor=" + next), "from where it ended");
  }

  @Test
  void aSearchThatWaitsForTheDatabaseAsksForARetry() {
    for (String table : List.of("search_segment", "search_progress")) {
      Answer answer = whileLocked(table, () -> api.get("/v1/search?q=" + word));
      assertEquals(503, answer.status(), answer::text);
      assertEquals("unavailable", answer.get("code"));
    }
  }

  @Test
  void noMoreThanFourSearchesRunAtOnce() {
    ExecutorService clients = Executors.newFixedThreadPool(6);
    List<Answer> answers =
        whileLocked(
            "search_chunk",
            () ->
                Stream.generate(
                        () ->
                            CompletableFuture.supplyAsync(
                                () -> api.get("/v1/search?q=" + word), clients))
                    .limit(6)
                    .toList()
                    .stream()
                    .map(CompletableFuture::join)
                    .toList());
    clients.shutdown();
    List<Answer> refused = answers.stream().filter(answer -> answer.status() != 200).toList();
    assertEquals(2, refused.size(), () -> answers.stream().map(Answer::text).toList().toString());
    for (Answer answer : refused) {
      assertEquals(429, answer.status());
      assertEquals("rate_limited", answer.get("code"));
      assertEquals("1", answer.header("Retry-After"));
    }
    search(word);
  }

  /** What the action returns while nothing else can read the table. */
  private <T> T whileLocked(String table, Supplier<T> action) {
    return database.inTransaction(
        connection -> {
          Sql.of("lock table " + table + " in access exclusive mode").with().update(connection);
          return action.get();
        });
  }

  @Test
  void badQueriesSayWhatToChange() {
    for (String query :
        List.of(
            "",
            "?q=",
            "?q=%22a",
            "?q=ab*",
            "?q=-",
            "?q=a&in=scripts",
            "?q=a&stream=x",
            "?q=a&since=yesterday",
            "?q=a&limit=0",
            "?q=a&context=9",
            "?q=a&cursor=x",
            "?q=a&cursor=search_1-2",
            "?q=" + "a".repeat(201))) {
      Answer answer = api.get("/v1/search" + query);
      assertEquals(422, answer.status(), query);
      assertNotNull(answer.get("errors[0].detail"), query);
    }
    assertEquals(401, Api.withKey(null).get("/v1/search?q=a").status());
  }

  @Test
  void anyCharactersAreHarmless() {
    for (String q : List.of("a' | 'b", "\\", "a\\b:*", "!(x & y)", "<->x", "\"'a'\":*", "💥a")) {
      Answer answer = api.get("/v1/search?q=" + URLEncoder.encode(q, StandardCharsets.UTF_8));
      assertTrue(answer.status() == 200 || answer.status() == 422, () -> q + answer.text());
    }
    Answer level =
        api.get("/v1/search?q=a&level=" + URLEncoder.encode("x' | 'y\\", StandardCharsets.UTF_8));
    assertEquals(200, level.status());
  }
}
