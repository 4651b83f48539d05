package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import dev.roost.api.Text;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class TransactionIT {
  @Inject DataSource dataSource;

  private Api api;
  private String store;

  @BeforeEach
  void makeStore() {
    api = Api.as(Role.WRITE);
    store = "/v1/datastore/" + api.post("/v1/datastore", "{}").get("id");
  }

  @Test
  void allIsWrittenWhenNothingThatWasReadHasChanged() {
    long a = put("a", "100");
    long b = put("b", "1");
    put("gone", "0");
    Answer applied =
        transact(
            """
            {'reads': [{'key': 'a', 'version': %d}, {'key': 'b', 'version': %d}, {'key': 'none', 'version': 0}],
             'writes': [{'key': 'a', 'value': {'x': 1.10, 'y': '\\u0000'}}, {'key': 'gone', 'delete': true},
               {'key': 'never', 'delete': true}, {'key': 'n', 'increment': 2.50}, {'key': 'b', 'increment': 41},
               {'key': 't', 'value': null, 'ttl': 1000}]}"""
                .formatted(a, b));
    assertEquals(200, applied.status(), applied.text());
    List<Number> versions = applied.get("versions");
    assertEquals(6, versions.size());
    assertEquals(List.of(0, 0), versions.subList(1, 3));
    assertEquals("[null,null,null,2.50,42,null]", sums(applied));
    assertEquals("{\"x\": 1.10, \"y\": \"\\u0000\"}", value("a"));
    assertEquals("\"" + versions.get(0) + "\"", api.get(store + "/entries/a").header("ETag"));
    assertEquals(404, api.get(store + "/entries/gone").status());
    assertEquals("2.50", value("n"));
    assertEquals("42", value("b"));
    assertEquals("null", value("t"));
    assertEquals(4, (int) api.get(store).get("entries"));
  }

  @Test
  void nothingIsWrittenWhenSomethingThatWasReadHasChanged() {
    long a = put("a", "1");
    long gone = put("gone", "1");
    put("a", "2");
    api.delete(store + "/entries/gone");
    put("new", "1");
    Answer refused =
        transact(
            """
            {'reads': [{'key': 'a', 'version': %d}, {'key': 'gone', 'version': %d}, {'key': 'new', 'version': 0}],
             'writes': [{'key': 'b', 'value': 1}]}"""
                .formatted(a, gone));
    assertEquals(409, refused.status());
    assertEquals("conflict", refused.get("code"));
    assertEquals(
        List.of("/reads/0", "/reads/1", "/reads/2"), refused.get("errors.pointer"), refused.text());
    assertEquals(404, api.get(store + "/entries/b").status());
    assertEquals("2", value("a"));
  }

  @Test
  void aRangeThatHasChangedIsAConflict() {
    long one = put("user/1", "1");
    long two = put("user/2", "1");
    put("z", "1");
    String unchanged = "{'prefix': 'user/', 'tag': '%s', 'count': 2}".formatted(tag(one, two));
    String first = "{'prefix': 'user/', 'through': 'user/1', 'tag': '%s'}".formatted(tag(one));
    String counted = "{'prefix': 'user/', 'count': 2}";
    for (String range : List.of(unchanged, first, counted)) {
      assertEquals(200, transact("{'ranges': [" + range + "]}").status(), range);
    }
    put("z", "2");
    assertEquals(200, transact("{'ranges': [" + unchanged + "]}").status());
    put("user/3", "1");
    assertEquals(409, transact("{'ranges': [" + unchanged + "]}").status());
    assertEquals(409, transact("{'ranges': [" + counted + "]}").status());
    Answer still = transact("{'ranges': [" + first + "]}");
    assertEquals(200, still.status(), still.text());
    put("user/1", "1");
    Answer refused = transact("{'ranges': [" + first + "], 'writes': [{'key': 'b', 'value': 1}]}");
    assertEquals(409, refused.status());
    assertEquals("/ranges/0", refused.get("errors[0].pointer"));
    assertTrue(refused.<String>get("detail").contains("user/"), refused.text());
  }

  @Test
  void whatHasExpiredIsAbsent() {
    long version =
        Long.parseLong(
            api.put(store + "/entries/t", "1", "Roost-TTL", "0.2")
                .header("ETag")
                .replace("\"", ""));
    String read = "{'reads': [{'key': 't', 'version': %d}]}";
    Await.until("the entry has expired", () -> transact(read.formatted(version)).status() == 409);
    assertEquals(200, transact(read.formatted(0)).status());
    assertEquals(200, transact("{'ranges': [{'count': 0}]}").status());
    assertEquals(200, transact("{'writes': [{'key': 't', 'increment': 5}]}").status());
    assertEquals("5", value("t"));
  }

  @Test
  void numbersAreAddedExactly() {
    List<List<String>> sums =
        List.of(
            List.of("0.1", "0.2", "0.3"),
            List.of("1e2", "1", "101"),
            List.of("-0", "0", "0"),
            List.of("9".repeat(40), "1", "1" + "0".repeat(40)),
            List.of("1.50", "-1.5", "0.00"),
            List.of("1", "1E-3", "1.001"));
    for (List<String> sum : sums) {
      put("n", sum.get(0));
      Answer added = transact("{'writes': [{'key': 'n', 'increment': " + sum.get(1) + "}]}");
      assertEquals(200, added.status(), added.text());
      assertEquals(sum.get(2), value("n"));
    }
    for (String text : List.of("\"1\"", "null", "[1]", "true")) {
      put("n", text);
      Answer refused =
          transact("{'writes': [{'key': 'm', 'value': 1}, {'key': 'n', 'increment': 1}]}");
      assertEquals(422, refused.status(), text);
      assertEquals("/writes/1/increment", refused.get("errors[0].pointer"));
      assertEquals(text, value("n"));
      assertEquals(404, api.get(store + "/entries/m").status());
    }
    put("n", "1");
    assertEquals(422, transact("{'writes': [{'key': 'n', 'increment': 1e200000}]}").status());
  }

  @Test
  void mistakesAreReportedAllAtOnce() {
    Answer refused =
        transact(
            """
            {'reads': [{'key': 'a'}, {'version': -1, 'key': 'b'}, 7], 'ranges': [{'prefix': 'x'}, {'tag': 'z'}],
             'writes': [{'key': 'a'}, {'key': 'b', 'value': 1, 'delete': true}, {'key': 'c', 'delete': true, 'ttl': 1},
               {'key': 'd', 'increment': 'x'}, {'key': 'e', 'value': 1, 'ttll': 3}, {'value': 1}], 'x': 1}""");
    assertEquals(422, refused.status());
    assertEquals(
        List.of(
            "/reads/0/version",
            "/reads/1/version",
            "/reads/2",
            "/ranges/0/tag",
            "/ranges/1/tag",
            "/writes/0/value",
            "/writes/1/value",
            "/writes/2/ttl",
            "/writes/3/increment",
            "/writes/4/ttll",
            "/writes/5/key",
            "/x"),
        refused.get("errors.pointer"),
        refused.text());
    assertEquals(
        "duplicate",
        transact("{'writes': [{'key': 'a', 'value': 1}, {'key': 'a', 'delete': true}]}")
            .get("errors[0].code"));
    assertEquals(422, transact("{'reads': [{'key': '', 'version': 0}]}").status());
    assertEquals(422, transact("{'writes': {}}").status());
    assertEquals(200, transact("{}").status());
    String many =
        LongStream.range(0, 10_001)
            .mapToObj(i -> "{'key': 'k" + i + "', 'version': 0}")
            .collect(Collectors.joining(",", "{'reads': [", "]}"));
    assertEquals(413, transact(many).status());
    String large = "'" + "x".repeat(1_000_000) + "'";
    String tooMuch =
        LongStream.range(0, 17)
            .mapToObj(i -> "{'key': 'k" + i + "', 'value': " + large + "}")
            .collect(Collectors.joining(",", "{'writes': [", "]}"));
    assertEquals("too_large", transact(tooMuch).get("code"));
    assertEquals(0, (int) api.get(store).get("entries"));
    Answer nowhere = api.post("/v1/datastore/store_none/transactions", "{}");
    assertEquals(404, nowhere.status());
  }

  @Test
  void manyKeysAreWrittenAtOnce() {
    String writes =
        LongStream.range(0, 5_000)
            .mapToObj(i -> "{'key': 'k%04d', 'value': %d}".formatted(i, i))
            .collect(Collectors.joining(",", "{'writes': [", "]}"));
    assertEquals(200, transact(writes).status());
    assertEquals(5_000, (int) api.get(store).get("entries"));
    String gone =
        LongStream.range(0, 5_000)
            .mapToObj(i -> "{'key': 'k%04d', 'delete': true}".formatted(i))
            .collect(Collectors.joining(",", "{'writes': [", "]}"));
    assertEquals(200, transact(gone).status());
    assertEquals(0, (int) api.get(store).get("entries"));
    assertEquals(0, (int) api.get(store).get("size_bytes"));
  }

  @Test
  void anIdempotencyKeyMakesItHappenOnce() {
    String body = "{'writes': [{'key': 'n', 'increment': 1}]}";
    Answer first = transact(body, "Idempotency-Key", "once");
    Answer again = transact(body, "Idempotency-Key", "once");
    assertEquals(200, again.status());
    assertEquals(first.text(), again.text());
    assertEquals("1", value("n"));
    Answer other =
        transact("{'writes': [{'key': 'n', 'increment': 2}]}", "Idempotency-Key", "once");
    assertEquals("idempotency_key_reused", other.get("code"));
    assertEquals(422, transact(body, "Idempotency-Key", "x".repeat(256)).status());
    assertEquals("1", value("n"));
  }

  @Test
  void aTransactionThatIsSentTwiceAtOnceHappensOnce() throws Exception {
    put("n", "0");
    for (int round = 0; round < 20; round++) {
      String key = "round " + round;
      atOnce(
          4,
          i -> {
            Answer answer =
                transact("{'writes': [{'key': 'n', 'increment': 1}]}", "Idempotency-Key", key);
            assertEquals(200, answer.status(), answer.text());
            return 1;
          });
    }
    assertEquals("20", value("n"));
  }

  @Test
  void whoReadsAndWritesAtTheSameTimeAddsUp() throws Exception {
    put("a", "0");
    put("b", "0");
    int added = atOnce(8, i -> transfer(25));
    assertEquals(Integer.toString(-added), value("a"));
    assertEquals(Integer.toString(added), value("b"));
  }

  /** Moves one from a to b, so often; again on a conflict. */
  private int transfer(int times) {
    for (int done = 0; done < times; ) {
      Answer a = api.get(store + "/entries/a");
      Answer b = api.get(store + "/entries/b");
      Answer answer =
          transact(
              """
              {'reads': [{'key': 'a', 'version': %s}, {'key': 'b', 'version': %s}],
               'writes': [{'key': 'b', 'value': %d}, {'key': 'a', 'value': %d}]}"""
                  .formatted(
                      a.header("ETag").replace("\"", ""),
                      b.header("ETag").replace("\"", ""),
                      Integer.parseInt(b.text()) + 1,
                      Integer.parseInt(a.text()) - 1));
      if (answer.status() == 200) {
        done++;
      } else {
        assertEquals(409, answer.status(), answer.text());
      }
    }
    return times;
  }

  @Test
  void twoWhoCountAndThenAddDontBothAdd() throws Exception {
    for (int round = 0; round < 20; round++) {
      String prefix = "room" + round + "/";
      atOnce(
          4,
          i -> {
            String body =
                "{'ranges': [{'prefix': '%s', 'count': 0}], 'writes': [{'key': '%s%d', 'value': 1}]}"
                    .formatted(prefix, prefix, i);
            return transact(body).status() == 200 ? 1 : 0;
          });
      List<String> keys = api.get(store + "/entries?prefix=" + prefix).get("data.key");
      assertEquals(1, keys.size(), keys.toString());
    }
  }

  @Test
  void aProcessThatStandsStillDoesNotHoldItsLocksForEver() throws Exception {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      ResultSet row = statement.executeQuery("show idle_in_transaction_session_timeout");
      assertTrue(row.next());
      assertEquals("1min", row.getString(1));
    }
  }

  @Test
  void incrementsMeetNoConflict() throws Exception {
    int added =
        atOnce(
            8,
            i -> {
              for (int n = 0; n < 50; n++) {
                Answer answer = transact("{'writes': [{'key': 'n', 'increment': 1}]}");
                assertEquals(200, answer.status(), answer.text());
              }
              return 50;
            });
    assertEquals(Integer.toString(added), value("n"));
  }

  private interface Work {
    int run(int number) throws Exception;
  }

  /** The sum of what so many threads answer. */
  private static int atOnce(int threads, Work work) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Integer>> calls = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int number = i;
        calls.add(() -> work.run(number));
      }
      int sum = 0;
      for (Future<Integer> future : pool.invokeAll(calls)) {
        sum += future.get();
      }
      return sum;
    } finally {
      pool.shutdown();
    }
  }

  private static String tag(long... versions) {
    String text = LongStream.of(versions).mapToObj(v -> v + "\n").collect(Collectors.joining());
    return HexFormat.of().formatHex(Text.sha256(text));
  }

  private static String sums(Answer answer) {
    return answer.text().replaceAll(".*\"sums\":|}$", "");
  }

  private Answer transact(String body, String... headers) {
    return api.post(store + "/transactions", body.replace('\'', '"'), headers);
  }

  private long put(String key, String value) {
    Answer answer = api.put(store + "/entries/" + key, value);
    assertTrue(answer.status() < 300, answer.text());
    return Long.parseLong(answer.header("ETag").replace("\"", ""));
  }

  private String value(String key) {
    return api.get(store + "/entries/" + key).text();
  }
}
