package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Keys and values at the edges of what is allowed: each works, or is refused in plain words. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class StoreLimitsIT {
  private static final int MEBIBYTE = 1 << 20;

  @Test
  void aScriptsKeysAndValuesWorkOrAreRefusedInPlainWords(Client client) {
    String agent =
        client.agent(StoreRun.script("limits.py"), "store_ids", List.of(StoreRun.store(client)));
    JsonNode ended = client.execute(agent, null);
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
    JsonNode found = ended.path("execution").path("return_value");
    assertOutcomes(
        found.path("keys"),
        Map.ofEntries(
            Map.entry("empty", "ValueTooLarge: the key has 0 bytes"),
            Map.entry("512 bytes", "fine"),
            Map.entry("513 bytes", "ValueTooLarge: the key has 513 bytes"),
            Map.entry("nul", "fine"),
            Map.entry("emoji", "fine"),
            Map.entry("half of a surrogate pair", "NotSerializable: the key"),
            Map.entry("dots", "fine"),
            Map.entry("encoded slash", "fine"),
            Map.entry("URL", "fine"),
            Map.entry("line break", "fine"),
            Map.entry("quotes", "fine"),
            Map.entry("number", "TypeError: a key of a store is a str, not an int"),
            Map.entry("None", "TypeError: a key of a store is a str, not")));
    assertOutcomes(
        found.path("values"),
        Map.ofEntries(
            Map.entry("1 MiB", "fine"),
            Map.entry("1 MiB and a byte", "ValueTooLarge: The value has 1,048,577 bytes"),
            Map.entry("NaN", "NotSerializable: value of 'key': $[0]"),
            Map.entry("infinity", "NotSerializable: value of 'key': $.a"),
            Map.entry("nested 400 times", "fine"),
            Map.entry("nested 100,000 times", "NotSerializable: value of 'key'"),
            Map.entry("set", "NotSerializable: value of 'key': $.a[1] is a set"),
            Map.entry("half of a surrogate pair", "fine"),
            Map.entry("nul", "fine"),
            Map.entry("large number", "fine")));
  }

  @Test
  @LocalOnly("no script takes part")
  void keysOverHttpWorkOrAreRefusedInPlainWords(Client client) {
    String store = StoreRun.store(client);
    for (String key :
        List.of(
            "é".repeat(256),
            "a\0b",
            "🐣/🪺",
            "../../etc/passwd",
            "a%2Fb%00",
            "a/b?c=d#e&f+g h",
            "a\nb\r\u2028",
            "\"'\\",
            "//",
            ".",
            "a/./b/../c")) {
      String path = entry(store, key);
      HttpAnswer put = client.send("PUT", path, "\"it\"");
      assertTrue(put.status() < 300, key + ": " + put.text());
      assertEquals("\"it\"", client.get(path).expect(200).text(), key);
      JsonNode listed = client.get("/v1/datastore/" + store + "/entries").expect(200).json();
      assertEquals(List.of(key), HttpAnswer.column(listed, "key"));
      client.send("DELETE", path, null).expect(204);
      client.get(path).expect(404);
    }
    assertRefused(client.send("PUT", entry(store, ""), "1"), 422, "must not be empty");
    String long513 = entry(store, "é".repeat(256) + "k");
    assertRefused(client.send("PUT", long513, "1"), 422, "has 513 bytes");
    String surrogate = "/v1/datastore/" + store + "/entries/a%ED%A0%80";
    assertTrue(client.send("PUT", surrogate, "1").status() / 100 == 4);
    String inTransaction = "{\"writes\": [{\"key\": \"a\\ud800\", \"value\": 1}]}";
    assertRefused(
        client.post("/v1/datastore/" + store + "/transactions", inTransaction), 422, "surrogate");
    assertEquals(
        0, client.get("/v1/datastore/" + store).expect(200).json().path("entries").asInt());
  }

  @Test
  @LocalOnly("no script takes part")
  void valuesOverHttpStayToTheLetterOrAreRefusedInPlainWords(Client client) {
    String store = StoreRun.store(client);
    String path = entry(store, "value");
    for (String value :
        List.of(
            "1e400",
            "-0.0",
            "\"\\ud800\"",
            "\"a\\u0000b\"",
            "[".repeat(400) + "]".repeat(400),
            "7".repeat(2_000),
            "\"" + "x".repeat(MEBIBYTE - 2) + "\"")) {
      HttpAnswer put = client.send("PUT", path, value);
      assertTrue(put.status() < 300, put.text());
      assertEquals(value, client.get(path).expect(200).text());
    }
    String kept = client.get(path).text();
    String large = "\"" + "x".repeat(MEBIBYTE - 1) + "\"";
    assertRefused(client.send("PUT", path, large), 413, "1,048,577");
    for (String value :
        List.of("NaN", "[Infinity]", "", "[1", "{\"a\":}", "1 2", "{\"a\": 1, \"a\" :2}")) {
      assertTrue(client.send("PUT", path, value).status() / 100 == 4, value);
    }
    HttpAnswer deep = client.send("PUT", path, "[".repeat(100_000) + "]".repeat(100_000));
    assertTrue(deep.status() / 100 == 4 || deep.status() < 300, deep.text());
    if (deep.status() >= 300) {
      assertEquals(kept, client.get(path).expect(200).text());
    }
  }

  /** Whatever is stored over HTTP, a script can go through its store. */
  @Test
  void aScriptReadsWhatWasStoredOverHttp(Client client) {
    String store = StoreRun.store(client);
    client.send("PUT", entry(store, "huge"), "1e400");
    client.send("PUT", entry(store, "half"), "\"\\ud800\"");
    String agent = client.agent(StoreRun.script("limits.py"), "store_ids", List.of(store));
    JsonNode ended = client.execute(agent, "\"read\"");
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
    JsonNode seen = ended.path("execution").path("return_value");
    assertEquals("inf", seen.path("huge").asText());
    assertEquals("'\\ud800'", seen.path("half").asText());
  }

  private static void assertOutcomes(JsonNode found, Map<String, String> expected) {
    assertEquals(expected.size(), found.size(), found::toPrettyString);
    expected.forEach(
        (name, begin) ->
            assertTrue(
                found.path(name).asText().startsWith(begin),
                () -> name + ": " + found.path(name) + ", not " + begin));
  }

  private static void assertRefused(HttpAnswer answer, int status, String words) {
    answer.expect(status);
    assertTrue(answer.text().contains(words), answer.text());
  }

  private static String entry(String store, String key) {
    String encoded = URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20");
    return "/v1/datastore/" + store + "/entries/" + encoded;
  }
}
