package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A large store is moved in parts, and gone through without ever being held as a whole. */
@EveryRuntime
@LocalOnly("no script takes part")
@ExtendWith(SharedRoost.class)
class StoreMillionIT {
  private static final int PART = 50_000;

  @Test
  void aLargeStoreIsMovedAndGoneThroughInParts(RoostProcess roost) throws Exception {
    move(roost, 20_000);
  }

  @Test
  @Tag("soak")
  void aStoreOfAMillionEntriesIsMovedAndGoneThroughInParts(RoostProcess roost) throws Exception {
    move(roost, Integer.getInteger("store.entries", 1_000_000));
  }

  private static void move(RoostProcess roost, int entries) throws Exception {
    Client client = roost.client();
    String store = StoreRun.store(client);
    String other = StoreRun.store(client);
    load(client, store, entries);

    assertGoneThrough(client, store, entries);
    JsonNode described = client.get("/v1/datastore/" + store).expect(200).json();
    assertEquals(entries, described.path("entries").asInt());
    String page = "/v1/datastore/" + store + "/entries?limit=200&prefix=" + tenth();
    assertEquals(200, client.get(page).expect(200).json().path("data").size());

    copyInTwo(client, store, other, entries);
    assertEquals(digest(client, store), digest(client, other));
    client.send("DELETE", "/v1/datastore/" + other, null).expect(204);
  }

  private static void load(Client client, String store, int entries) {
    long begin = System.nanoTime();
    for (int from = 0; from < entries; from += PART) {
      int to = Math.min(from + PART, entries);
      StringBuilder lines = new StringBuilder();
      IntStream.range(from, to).forEach(n -> lines.append(line(n)).append('\n'));
      assertEquals(to - from, load(client, store, lines.toString()));
    }
    System.out.printf("%,d entries imported in %d ms%n", entries, millisSince(begin));
  }

  private static int load(Client client, String store, String lines) {
    return client
        .post("/v1/datastore/" + store + "/import", lines, "Content-Type", "application/x-ndjson")
        .expect(200)
        .json()
        .path("imported")
        .asInt();
  }

  private static String line(int n) {
    return "{\"key\":\"k/%07d\",\"value\":{\"n\": %d, \"text\": \"%s\"},\"expires_at\":null}"
        .formatted(n * 7_919L % 9_999_991L, n, "é🐣".repeat(n % 20));
  }

  /** Keys are spread over 0 to 9,999,991, as evenly as it goes. */
  private static String tenth() {
    return "k/3";
  }

  private static void assertGoneThrough(Client client, String store, int entries) {
    String agent =
        client.agent(
            StoreRun.script("million.py"),
            "store_ids",
            List.of(store),
            "memory",
            64,
            "timeout",
            600);
    long begin = System.nanoTime();
    JsonNode ended = client.execute(agent, "{\"tenth\": \"" + tenth() + "\"}");
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
    JsonNode seen = ended.path("execution").path("return_value");
    System.out.printf("gone through in %d ms: %s%n", millisSince(begin), seen);
    long tenth = IntStream.range(0, entries).filter(n -> line(n).contains("\"" + tenth())).count();
    assertEquals(entries, seen.path("count").asInt());
    assertEquals((long) entries * (entries - 1) / 2, seen.path("total").asLong());
    assertEquals(entries, seen.path("length").asInt());
    assertEquals(tenth, seen.path("tenth").path(0).asLong());
    assertEquals(tenth, seen.path("tenth").path(1).asLong());
    assertTrue(seen.path("more_mib").asInt() < 16, seen.toString());
  }

  /** As if the first export had been cut off: the second begins after its last whole line. */
  private static void copyInTwo(Client client, String store, String other, int entries) {
    StringBuilder part = new StringBuilder();
    String last = null;
    int cut = entries / 3;
    int copied = 0;
    for (String from = ""; copied < entries; from = "?after=" + last) {
      int end = copied < cut ? cut : entries;
      try (Stream<String> lines = client.lines("/v1/datastore/" + store + "/export" + from)) {
        Iterator<String> all = lines.iterator();
        while (copied < end) {
          String line = all.next();
          last = HttpAnswer.parse(line).path("key").asText();
          part.append(line).append('\n');
          copied++;
          if (copied % PART == 0 || copied == end) {
            load(client, other, part.toString());
            part.setLength(0);
          }
        }
        assertTrue(copied < entries || !all.hasNext(), "the export ends");
      }
    }
  }

  private static String digest(Client client, String store) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    try (Stream<String> lines = client.lines("/v1/datastore/" + store + "/export")) {
      lines.forEach(line -> digest.update((line + "\n").getBytes(StandardCharsets.UTF_8)));
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** The database tells its counts when a connection has been at rest for a second. */
  private static long millisSince(long begin) {
    return (System.nanoTime() - begin) / 1_000_000;
  }
}
