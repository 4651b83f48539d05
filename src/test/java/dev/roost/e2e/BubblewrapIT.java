package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Roost with {@code roost.local.sandbox=bubblewrap}. */
@LocalOnly("on a cluster containers confine scripts")
class BubblewrapIT {
  private static final String SCRIPT =
      """
      import os

      def main(request, store):
          store["key"] = store.get("key", 0) + 1
          open("/dev/shm/left", "a").close()
          processes = [name for name in os.listdir("/proc") if name.isdigit()]
          return [store["key"], os.path.exists(request.payload), len(processes) < 10, os.listdir("/dev/shm")]
      """;

  @Test
  void scriptsSeeNeitherProcessesNorFilesOfRoost() {
    if (!Command.exists("bwrap")) {
      LeftOut.say("the tests of bubblewrap, because the program bwrap isn't there");
    }
    try (RoostProcess roost = RoostProcess.prepared("ROOST_LOCAL_SANDBOX", "bubblewrap")) {
      roost.launch();
      Eventually.until(
          "it is ready or has ended",
          () -> !roost.isRunning() || roost.output().contains("Roost is ready"));
      if (roost.errors().contains("scripts cannot be confined")) {
        LeftOut.say("the tests of bubblewrap: " + roost.errors().strip());
      }
      Client client = roost.client();
      JsonNode sandbox = client.get("/v1/runtime").json().path("sandbox");
      assertTrue(sandbox.path("mechanism").asText().startsWith("bubblewrap+"), sandbox::toString);
      assertTrue(sandbox.path("private_ipc").asBoolean(), sandbox::toString);
      String agent = client.agent(SCRIPT, "store_ids", List.of(store(client)));
      for (int i = 1; i < 3; i++) {
        JsonNode job = client.execute(agent, "\"" + roost.data().resolve("api_key") + "\"");
        assertEquals(
            "[" + i + ",false,true,[\"left\"]]",
            job.at("/execution/return_value").toString(),
            job::toPrettyString);
      }
    }
  }

  private static String store(Client client) {
    return client
        .post("/v1/datastore", "{\"name\": \"own\"}")
        .expect(201)
        .json()
        .path("id")
        .asText();
  }
}
