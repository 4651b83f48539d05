package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whose a store is: of the agents that name it, and of no other. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class StoreSharingIT {
  private static final String SCRIPT = StoreRun.script("sharing.py");

  @Test
  void agentsThatShareAStoreSeeWhatTheOtherWrites(Client client) {
    String shared = StoreRun.store(client);
    String own = StoreRun.store(client);
    String writer = client.agent(SCRIPT, "store_ids", List.of(shared));
    String reader = client.agent(SCRIPT, "store_ids", List.of(own, shared));
    assertEquals(
        List.of(name(client, shared)),
        texts(returned(client, writer, "{\"do\": \"put\", \"value\": [1, \"two\"]}")));
    JsonNode seen = returned(client, reader, "{\"do\": \"look\"}");
    assertEquals(List.of(name(client, own), name(client, shared)), texts(seen.path("names")));
    assertEquals("{}", seen.path("values").path(name(client, own)).toString());
    assertEquals(
        "{\"from\":[1,\"two\"]}", seen.path("values").path(name(client, shared)).toString());
    assertEquals(409, client.send("DELETE", "/v1/datastore/" + shared, null).status());
    client.send("DELETE", "/v1/agents/" + writer, null).expect(204);
    client.send("DELETE", "/v1/agents/" + reader, null).expect(204);
    assertEquals("[1, \"two\"]", entry(client, shared, "from").expect(200).text());
    client.send("DELETE", "/v1/datastore/" + shared, null).expect(204);
    client.get("/v1/datastore/" + shared).expect(404);
  }

  @Test
  void aStoreThatIsNotItsOwnIsOutOfAScriptsReach(Client client) {
    String foreign = StoreRun.store(client);
    client.send("PUT", "/v1/datastore/" + foreign + "/entries/secret", "\"kept\"");
    String agent = client.agent(SCRIPT, "store_ids", List.of(StoreRun.store(client)));
    JsonNode answers =
        returned(client, agent, "{\"do\": \"reach\", \"foreign\": \"" + foreign + "\"}");
    assertEquals(11, answers.size());
    for (JsonNode answer : answers) {
      String text = answer.asText();
      boolean refused =
          text.startsWith("raw: 4")
              || text.startsWith("StoreError: this execution has no such store");
      assertTrue(refused, answers::toPrettyString);
      assertFalse(text.contains("kept"), text);
    }
    assertEquals("\"kept\"", entry(client, foreign, "secret").expect(200).text());
    assertEquals(
        1, client.get("/v1/datastore/" + foreign).expect(200).json().path("entries").asInt());
  }

  private static HttpAnswer entry(Client client, String store, String key) {
    return client.get("/v1/datastore/" + store + "/entries/" + key);
  }

  private static String name(Client client, String store) {
    return client.get("/v1/datastore/" + store).expect(200).json().path("name").asText();
  }

  private static JsonNode returned(Client client, String agent, String payload) {
    JsonNode ended = client.execute(agent, payload);
    assertEquals("succeeded", ended.path("state").asText(), ended::toPrettyString);
    return ended.path("execution").path("return_value");
  }

  private static List<String> texts(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asText).toList();
  }
}
