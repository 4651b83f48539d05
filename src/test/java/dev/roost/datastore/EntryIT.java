package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.RandomJson;
import dev.roost.api.Role;
import io.quarkus.hibernate.orm.panache.Panache;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class EntryIT {
  @Inject Entries entries;

  private Api api;
  private String storeId;
  private String path;

  @BeforeEach
  void makeStore() {
    api = Api.as(Role.WRITE);
    storeId = api.post("/v1/datastore", "{}").get("id");
    path = "/v1/datastore/" + storeId + "/entries/";
  }

  @Test
  void anEntryIsStoredReadAndDeleted() {
    Answer first = api.put(path + "a", "1");
    assertEquals(201, first.status());
    Answer second = api.put(path + "a", "2");
    assertEquals(204, second.status());
    assertTrue(version(second) > version(first));
    Answer read = api.get(path + "a");
    assertEquals(200, read.status());
    assertEquals("2", read.text());
    assertEquals("application/json", read.header("Content-Type"));
    assertEquals(second.header("ETag"), read.header("ETag"));
    assertEquals(304, api.get(path + "a", "If-None-Match", read.header("ETag")).status());
    assertEquals(200, api.get(path + "a", "If-None-Match", first.header("ETag")).status());
    assertEquals(204, api.delete(path + "a").status());
    assertEquals(404, api.delete(path + "a").status());
    assertEquals(404, api.get(path + "a").status());
    assertTrue(version(api.put(path + "a", "3")) > version(second));
  }

  @Test
  void aValueKeepsItsExactText() {
    List<String> values =
        new ArrayList<>(
            List.of(
                "1.10",
                "-0.0",
                "1e400",
                "1".repeat(3000),
                "\"\\u0000\\ud800\"",
                "{\"b\":1, \"a\" : [ ]}",
                "\"é🐔\"",
                "null",
                "[[[]]]"));
    long seed = System.nanoTime();
    RandomJson random = new RandomJson(seed);
    for (int i = 0; i < 200; i++) {
      values.add(random.value());
    }
    for (String value : values) {
      Answer put = api.put(path + "v", value);
      assertTrue(put.status() < 300, () -> "seed " + seed + ": " + value + put.text());
      assertEquals(value.strip(), api.get(path + "v").text(), "seed " + seed);
      String page = api.get("/v1/datastore/" + storeId + "/entries").text();
      assertTrue(page.contains("\"value\":" + value.strip() + ","), () -> "seed " + seed + page);
    }
  }

  @Test
  void aValueThatIsNoJsonIsRefused() {
    for (String value :
        List.of("", " ", "{", "NaN", "'a'", "1 2", "{\"a\":1,\"a\":2}", "01", "[1,]")) {
      Answer answer = api.put(path + "v", value);
      assertEquals(400, answer.status(), value);
      assertEquals("malformed_json", answer.get("code"));
    }
    assertEquals(415, api.put(path + "v", "1", "Content-Type", "text/plain").status());
    assertEquals(404, api.get(path + "v").status());
  }

  @Test
  void anyKeyCanBeUsed() {
    List<String> keys =
        List.of(
            "a/b",
            "a//b",
            ".",
            "..",
            "../..",
            "a/../b",
            "/",
            "//",
            "%2F",
            "%",
            "a b",
            "a+b",
            "a;b=c",
            "a?b#c",
            "\0",
            "é🐔",
            "\uffff",
            "ë̈",
            "key",
            "x".repeat(512),
            "🐔".repeat(128));
    for (String key : keys) {
      String encoded =
          URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20").replace(".", "%2E");
      Answer put = api.put(path + encoded, "\"" + encoded + "\"");
      assertEquals(201, put.status(), () -> key + put.text());
      assertEquals("\"" + encoded + "\"", api.get(path + encoded).text());
    }
    assertEquals(keys.size(), (int) api.get("/v1/datastore/" + storeId).get("entries"));
    List<String> listed =
        api.get("/v1/datastore/" + storeId + "/entries?limit=200").get("data.key");
    List<String> sorted = new ArrayList<>(keys);
    sorted.sort(
        (a, b) -> java.util.Arrays.compare(a.codePoints().toArray(), b.codePoints().toArray()));
    assertEquals(sorted, listed);
    assertEquals("\"a%2Fb\"", api.get(path + "a/b").text());
    assertEquals(204, api.delete(path + "..").status());
    assertEquals(keys.size() - 1, (int) api.get("/v1/datastore/" + storeId).get("entries"));
  }

  @Test
  void aBadKeyIsRefused() {
    for (String key :
        List.of("", "x".repeat(513), "🐔".repeat(128) + "x", "%ff", "%ed%a0%80", "%c0%80")) {
      String encoded = key.startsWith("%") ? key : URLEncoder.encode(key, StandardCharsets.UTF_8);
      for (String method : List.of("GET", "PUT", "DELETE")) {
        Answer answer = api.send(method, path + encoded, method.equals("PUT") ? "1" : null);
        assertEquals(422, answer.status(), method + " " + key);
        assertEquals("validation_failed", answer.get("code"));
      }
    }
  }

  @Test
  void preconditionsHold() {
    assertEquals(412, api.put(path + "a", "1", "If-Match", "*").status());
    assertEquals(412, api.put(path + "a", "1", "If-Match", "\"1\"").status());
    Answer first = api.put(path + "a", "1", "If-None-Match", "*");
    assertEquals(201, first.status());
    Answer refused = api.put(path + "a", "2", "If-None-Match", "*");
    assertEquals(412, refused.status());
    assertEquals("precondition_failed", refused.get("code"));
    Answer second = api.put(path + "a", "2", "If-Match", "\"no\", " + first.header("ETag"));
    assertEquals(204, second.status());
    assertEquals(412, api.put(path + "a", "3", "If-Match", first.header("ETag")).status());
    assertEquals(412, api.delete(path + "a", "If-Match", first.header("ETag")).status());
    assertEquals("2", api.get(path + "a").text());
    assertEquals(204, api.put(path + "a", "4", "If-Match", "*").status());
    Answer last = api.get(path + "a");
    assertEquals(204, api.delete(path + "a", "If-Match", last.header("ETag")).status());
    assertEquals(412, api.delete(path + "a", "If-Match", "*").status());
    for (String wrong : List.of("1", "\"1", "1\"", "\"1\" \"2\"")) {
      assertEquals(422, api.put(path + "a", "1", "If-Match", wrong).status(), wrong);
    }
    assertEquals(422, api.put(path + "a", "1", "If-None-Match", "\"1\"").status());
    assertEquals(422, api.put(path + "a", "1", "If-None-Match", "*", "If-Match", "*").status());
  }

  @Test
  void anExpiredEntryIsNeverSeen() {
    api.put(path + "stays", "1", "Roost-TTL", "1000000000");
    Answer put = api.put(path + "goes", "1", "Roost-TTL", "0.15");
    Await.until("the entry has expired", () -> api.get(path + "goes").status() == 404);
    assertEquals(1, (int) api.get("/v1/datastore/" + storeId).get("entries"));
    assertEquals(6, (int) api.get("/v1/datastore/" + storeId).get("size_bytes"));
    assertEquals(
        List.of("stays"), api.get("/v1/datastore/" + storeId + "/entries").get("data.key"));
    assertEquals(1, entries.count(Access.ofClient(storeId)));
    assertEquals(404, api.delete(path + "goes").status());
    assertEquals(412, api.put(path + "goes", "2", "If-Match", "*").status());
    assertEquals(412, api.put(path + "goes", "2", "If-Match", put.header("ETag")).status());
    Answer again = api.put(path + "goes", "2", "If-None-Match", "*", "Roost-TTL", "0.000001");
    assertEquals(201, again.status());
    assertTrue(version(again) > version(put));
    // The application sweeps as well, and may come first.
    Await.until(
        "the entry is swept",
        () -> {
          entries.sweep(100);
          return stored("goes") == 0;
        });
    assertEquals(200, api.get(path + "stays").status());
    api.put(path + "stays", "2");
    assertNull(api.get("/v1/datastore/" + storeId + "/entries").get("data[0].expires_at"));
  }

  @Test
  void aTtlThatIsNoNumberOfSecondsIsRefused() {
    for (String wrong :
        List.of(
            "0",
            "0.0",
            "1e-400",
            "-1",
            "+1",
            "NaN",
            "Infinity",
            "x",
            "1d",
            "1s",
            "1h30m",
            "PT1H",
            "P1D",
            "1 0",
            "1,5",
            "1_000",
            "1e",
            ".",
            "0x10",
            "0x1p3",
            "1e11",
            "1e400",
            "1e99999999",
            "10000000001",
            "9".repeat(60),
            "1".repeat(3_000),
            "2026-11-21T18:12:41Z")) {
      Answer answer = api.put(path + "a", "1", "Roost-TTL", wrong);
      assertEquals(422, answer.status(), wrong);
      assertEquals("validation_failed", answer.get("code"), wrong);
      assertEquals(List.of("Roost-TTL"), answer.get("errors.pointer"), wrong);
      assertEquals(
          "Roost-TTL must be a number of seconds above 0 and up to 10000000000, for example 3600.",
          answer.get("errors[0].detail"),
          wrong);
    }
    assertEquals(404, api.get(path + "a").status());
    for (String right : List.of("1.", ".5", "1e3", "1E+3", "10000000000")) {
      assertTrue(api.put(path + "b", "1", "Roost-TTL", right).status() < 300, right);
    }
  }

  @Test
  void rangesArePagedInOrder() {
    TreeMap<String, Integer> expected = new TreeMap<>();
    for (int i = 0; i < 25; i++) {
      String key = (i % 2 == 0 ? "user/" : "z/") + (char) ('a' + i);
      expected.put(key, i);
      api.put(path + key, Integer.toString(i));
    }
    api.put(path + "user0", "0");
    expected.put("user0", 0);
    String list = "/v1/datastore/" + storeId + "/entries?limit=4";
    assertEquals(List.copyOf(expected.keySet()), keys(list));
    assertEquals(
        List.copyOf(expected.subMap("user/", "user0").keySet()), keys(list + "&prefix=user/"));
    assertEquals(List.copyOf(expected.tailMap("user/k").keySet()), keys(list + "&start=user/k"));
    assertEquals(
        List.copyOf(expected.subMap("user/k", "user0").keySet()),
        keys(list + "&start=user/k&prefix=user/"));
    assertEquals(List.of(), keys(list + "&prefix=nothing"));
    assertEquals(422, api.get(list + "&cursor=%21").status());
    assertEquals(422, api.get(list + "&cursor=YQ").status());
    assertEquals(422, api.get(list + "&cursor=entry__w").status());
  }

  @Test
  void aPageOfLargeValuesIsShorter() {
    String value = "\"" + "x".repeat(1_000_000) + "\"";
    for (int i = 0; i < 7; i++) {
      assertEquals(201, api.put(path + "k" + i, value).status());
    }
    Answer page = api.get("/v1/datastore/" + storeId + "/entries");
    assertEquals(5, page.<List<String>>get("data.key").size());
    assertEquals(7, keys("/v1/datastore/" + storeId + "/entries?limit=6").size());
  }

  @Test
  void aValueOverTheLimitIsRefused() {
    assertEquals(201, api.put(path + "a", "\"" + "x".repeat(1_048_574) + "\"").status());
    Answer answer = api.put(path + "a", "\"" + "é".repeat(524_287) + "x\"");
    assertEquals(413, answer.status());
    assertEquals("too_large", answer.get("code"));
    assertTrue(answer.<String>get("detail").contains("1,048,576"), answer.text());
  }

  @Test
  void ofManyWritersWhoRequireTheSameVersionOneWins() throws Exception {
    String version = api.put(path + "n", "0").header("ETag");
    List<Callable<Integer>> writers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      String value = Integer.toString(i);
      writers.add(() -> api.put(path + "n", value, "If-Match", version).status());
      writers.add(() -> api.put(path + "new", value, "If-None-Match", "*").status());
    }
    ExecutorService threads = Executors.newFixedThreadPool(8);
    List<Integer> statuses = new ArrayList<>();
    for (Future<Integer> future : threads.invokeAll(writers)) {
      statuses.add(future.get());
    }
    threads.shutdown();
    assertEquals(1, statuses.stream().filter(status -> status == 204).count());
    assertEquals(1, statuses.stream().filter(status -> status == 201).count());
    assertEquals(14, statuses.stream().filter(status -> status == 412).count());
  }

  @Test
  void aStoreSaysWhenItWasChanged() {
    String before = api.get("/v1/datastore/" + storeId).get("updated_at");
    api.put(path + "a", "1");
    String written = api.get("/v1/datastore/" + storeId).get("updated_at");
    assertNotEquals(before, written);
    String entry = api.get("/v1/datastore/" + storeId + "/entries").get("data[0].updated_at");
    assertTrue(written.compareTo(entry) >= 0, written + " is before " + entry);
  }

  /** How many entries of a key there are, expired or not. */
  private long stored(String key) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                Panache.getSession()
                    .createNativeQuery(
                        "select count(*) from datastore_entry where store_id = :store and key = convert_to(:key, 'UTF8')",
                        Long.class)
                    .setParameter("store", storeId)
                    .setParameter("key", key)
                    .getSingleResult());
  }

  private List<String> keys(String list) {
    List<String> keys = new ArrayList<>();
    for (String cursor = ""; cursor != null; ) {
      Answer page = api.get(list + cursor);
      assertEquals(200, page.status(), page.text());
      keys.addAll(page.<List<String>>get("data.key"));
      String next = page.get("next_cursor");
      cursor = next == null ? null : "&cursor=" + next;
    }
    return keys;
  }

  private static long version(Answer answer) {
    return Long.parseLong(answer.header("ETag").replace("\"", ""));
  }
}
