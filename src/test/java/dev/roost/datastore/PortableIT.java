package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import dev.roost.api.JsonText;
import dev.roost.api.RandomJson;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class PortableIT {
  private static final String LINES = "application/x-ndjson";

  @Inject Entries entries;
  @Inject Transactions transactions;

  private Api api;
  private String storeId;
  private String path;

  @BeforeEach
  void makeStore() {
    api = Api.as(Role.WRITE);
    storeId = newStore();
    path = "/v1/datastore/" + storeId;
  }

  @Test
  void whatIsExportedAndImportedIsTheSameByteForByte() {
    Map<String, String> values = new LinkedHashMap<>();
    List<String> texts =
        new ArrayList<>(
            List.of(
                "1.10",
                "-0.0",
                "1e400",
                "1".repeat(30),
                "\"\\u0000\\ud800\"",
                "{\"b\":1, \"a\" : [ ]}",
                "{\"1\":1,\"1\":2}",
                "{\n  \"a\":\t1,\r\n\"b\": \"\\n\" }",
                "[\r]",
                " 1 ",
                "\n\"x\"\n",
                "\"é🐔\u2028\u0085\"",
                "null",
                "[".repeat(5_000) + "]".repeat(5_000),
                '"' + "x".repeat(1_048_574) + '"'));
    RandomJson random = new RandomJson(System.nanoTime());
    for (int i = 0; i < 100; i++) {
      texts.add(random.value());
    }
    List<String> keys =
        List.of(
            "\0",
            "a\0b",
            "🐔",
            "\"",
            "\\",
            "a\nb",
            "\r\n",
            "é\u2028",
            "\uffff",
            "..",
            "x".repeat(512));
    for (int i = 0; i < texts.size(); i++) {
      values.put("value " + i, texts.get(i));
    }
    for (String key : keys) {
      values.put(key, "1");
    }
    values.forEach((key, text) -> write(key, text, null));

    Answer export = export(path, "");
    assertEquals(200, export.status());
    assertEquals(LINES, export.header("Content-Type"));
    assertEquals(values.size(), export.text().lines().count());
    String copy = "/v1/datastore/" + newStore();
    Answer imported = load(copy, export.text());
    assertEquals(200, imported.status(), imported.text());
    assertEquals(values.size(), (int) imported.get("imported"));
    assertEquals(export.text(), export(copy, "").text());
    String copyId = copy.substring(copy.lastIndexOf('/') + 1);
    values.forEach(
        (key, text) -> {
          Entry stored = entries.get(Access.ofClient(copyId), key).orElseThrow();
          assertEquals(text, stored.value().text());
        });
  }

  @Test
  void aLineHasTheExactTextOrWhereThatBreaksTheLineAString() {
    write("a", "{\"n\": 1.10}", null);
    write("b", "[\n]", null);
    write("c\n", "1", Instant.parse("2126-01-02T03:04:05.678901Z"));
    assertEquals(
        """
        {"key":"a","value":{"n": 1.10},"expires_at":null}
        {"key":"b","text":"[\\n]","expires_at":null}
        {"key":"c\\n","value":1,"expires_at":"2126-01-02T03:04:05.678901Z"}
        """,
        export(path, "").text());
  }

  @Test
  void anEmptyStoreHasNoLines() {
    Answer export = export(path, "");
    assertEquals(200, export.status());
    assertEquals("", export.text());
    assertEquals(LINES, export.header("Content-Type"));
    Answer imported = load(path, "");
    assertEquals(200, imported.status(), imported.text());
    assertEquals(0, (int) imported.get("imported"));
  }

  @Test
  void anExportContinuesAfterAKeyAndCanBeOfAPrefix() {
    String all =
        IntStream.range(0, 2_500)
            .mapToObj("{\"key\":\"k%04d\",\"value\":1,\"expires_at\":null}\n"::formatted)
            .collect(Collectors.joining());
    assertEquals(2_500, (int) load(path, all).get("imported"));
    assertEquals(all, export(path, "").text());
    String rest = all.substring(all.indexOf("{\"key\":\"k1001\""));
    assertEquals(rest, export(path, "?after=k1000").text());
    assertEquals("", export(path, "?after=k2499").text());
    assertEquals(100, export(path, "?prefix=k11").text().lines().count());
    assertEquals(9, export(path, "?prefix=k110&after=k1100").text().lines().count());
    assertEquals(200, export(path, "?prefix=nothing").status());
  }

  @Test
  void anExpiryIsKeptAndWhatHasExpiredIsLeftOut() {
    write("gone", "1", null);
    Answer imported =
        load(
            path,
            """
            {"key":"gone","value":2,"expires_at":"2020-01-01T00:00:00Z"}
            {"key":"a","value":1,"expires_at":"2126-01-02T03:04:05.678901+01:00"}
            {"key":"b","value":1,"ttl":1000}
            {"key":"c","value":1,"ttl":null,"expires_at":null}
            """);
    assertEquals("{\"imported\":3,\"expired\":1}", imported.text());
    assertEquals("1", api.get(path + "/entries/gone").text());
    String export = export(path, "").text();
    assertTrue(export.contains("\"expires_at\":\"2126-01-02T02:04:05.678901Z\""), export);
    assertTrue(export.contains("{\"key\":\"c\",\"value\":1,\"expires_at\":null}"), export);
    List<Object> expiries = api.get(path + "/entries").get("data.expires_at");
    assertEquals(2, expiries.stream().filter(time -> time != null).count());
  }

  @Test
  void onlyLinesAreTakenAndGiven() {
    assertEquals(415, load(path, "", "Content-Type", "application/json").status());
    Answer form = load(path, "x", "Content-Type", "application/x-www-form-urlencoded");
    assertEquals(415, form.status());
    assertTrue(form.<String>get("detail").contains(LINES), form.text());
    assertEquals(200, export(path, "", "Accept", "*/*").status());
    assertEquals(200, export(path, "", "Accept", LINES).status());
    assertEquals(200, export(path, "", "Accept", "application/json, */*;q=0.1").status());
    Answer json = export(path, "", "Accept", "application/json");
    assertEquals(406, json.status());
    assertEquals("not_acceptable", json.get("code"));
  }

  @Test
  void anUnknownStoreIsAProblem() {
    Answer export = export("/v1/datastore/store_x", "");
    assertEquals(404, export.status());
    assertEquals("application/problem+json", export.header("Content-Type"));
    assertEquals("not_found", export.get("code"));
    assertEquals(404, load("/v1/datastore/store_x", "{\"key\":\"a\",\"value\":1}\n").status());
    assertEquals(404, api.send("HEAD", "/v1/datastore/store_x/export", null).status());
  }

  @Test
  void methodsAndRolesAreThoseOfReadingAndWriting() {
    write("a", "1", null);
    Answer head = api.send("HEAD", path + "/export", null);
    assertEquals(200, head.status());
    assertEquals(LINES, head.header("Content-Type"));
    assertEquals("GET, HEAD, OPTIONS", api.post(path + "/export", "").header("Allow"));
    assertEquals("OPTIONS, POST", api.get(path + "/import").header("Allow"));
    Api reader = Api.as(Role.READ);
    assertEquals(200, reader.get(path + "/export").status());
    assertEquals(403, reader.post(path + "/import", "{}", "Content-Type", LINES).status());
    assertEquals(401, Api.withKey(null).get(path + "/export").status());
    assertEquals(200, api.get(path).status());
    assertEquals("1", api.get(path + "/entries/a").text());
    assertEquals(404, api.get(path + "/entries/export").status());
  }

  @Test
  void anExportCarriesTheRequestsIdAndIsNotCompressed() {
    write("a", '"' + "x".repeat(10_000) + '"', null);
    Answer export = export(path, "", "X-Request-Id", "mine", "Accept-Encoding", "gzip, deflate");
    assertEquals("mine", export.header("X-Request-Id"));
    assertTrue(export.text().startsWith("{\"key\""));
    String encoding = export.header("Content-Encoding");
    assertTrue(encoding == null || encoding.equals("identity"), encoding);
  }

  private String newStore() {
    return api.post("/v1/datastore", "{}").get("id");
  }

  /** As a script does, whose text nobody strips. */
  private void write(String key, String text, Instant expiresAt) {
    transactions.run(
        Access.ofClient(storeId),
        new Transaction(
            List.of(),
            List.of(),
            List.of(new Write.Set(key, new JsonText(text), null, expiresAt))));
  }

  private Answer export(String store, String query, String... headers) {
    return api.get(store + "/export" + query, headers);
  }

  private Answer load(String store, String lines, String... headers) {
    String[] all = headers.length == 0 ? new String[] {"Content-Type", LINES} : headers;
    return api.post(store + "/import", lines, all);
  }
}
