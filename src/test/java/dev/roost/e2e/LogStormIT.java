package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Far too much output: the result still arrives, and no process of Roost's grows. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class LogStormIT {
  private static final long EXECUTOR_MIB = 150;
  private static final long CONTROL_PLANE_MIB = 1_024;

  /** The executor is looked at after its log has been read, which takes a while. */
  private static final int KEEP_WARM_SECONDS = 600;

  private static final long KEPT_BYTES = (32 << 20) + (1 << 20) + (1 << 16);

  @Test
  void twoHundredMegabytesOfLogAreCutAndTheValueArrives(Client client, RoostProcess roost) {
    storm(client, roost, 200);
  }

  @Test
  @Tag("soak")
  void aGigabyteOfLogIsCutAndTheValueArrives(Client client, RoostProcess roost) {
    storm(client, roost, 1_000);
  }

  @Test
  @LocalOnly("the same process splits it in a pod; the other test has more output")
  void aLineOfAHundredMegabytesIsSplitAndCut(Client client, RoostProcess roost) {
    String agent =
        client.agent(
            """
            import sys

            def main(request):
                for _ in range(100):
                    sys.stdout.write("x" * 1_000_000)
                return "done"
            """,
            "keep_warm",
            KEEP_WARM_SECONDS);
    JsonNode execution = client.execute(agent, null).path("execution");
    check(client, roost, agent, execution);
    List<JsonNode> entries = client.entries(execution.path("id").asText());
    assertEquals(65_536, entries.get(0).path("message").asText().length());
    assertTrue(entries.get(0).path("continued").asBoolean());
  }

  private static void storm(Client client, RoostProcess roost, int megabytes) {
    String agent =
        client.agent(
            """
            def main(request):
                block = "\\n".join(["y" * 99] * 10_000)
                for number in range(request.payload):
                    print(block)
                    print("block", number)
                return "done"
            """,
            "keep_warm",
            KEEP_WARM_SECONDS);
    JsonNode execution = client.execute(agent, Integer.toString(megabytes)).path("execution");
    check(client, roost, agent, execution);
    List<String> messages = client.messages(execution.path("id").asText());
    assertTrue(messages.contains("block 0"));
    assertTrue(messages.contains("block " + (megabytes - 1)), "the end is kept as well");
  }

  private static void check(Client client, RoostProcess roost, String agent, JsonNode execution) {
    assertEquals("succeeded", execution.path("state").asText(), execution::toPrettyString);
    assertEquals("done", execution.path("return_value").asText());
    assertTrue(execution.path("logs_truncated").asBoolean());
    List<JsonNode> entries = client.entries(execution.path("id").asText());
    assertEquals(execution.path("log_entries").asInt(), entries.size());
    long bytes = 0;
    for (int i = 0; i < entries.size(); i++) {
      assertEquals(i + 1, entries.get(i).path("seq").asInt());
      bytes += entries.get(i).path("message").asText().length();
    }
    assertTrue(bytes < KEPT_BYTES, bytes + " bytes");
    for (String kind : List.of("runner", "sidecar")) {
      long most = roost.workers().executorOf(agent, kind).peakMemoryMib();
      assertTrue(most < EXECUTOR_MIB, kind + " had " + most + " MiB");
    }
    long most = Machine.memoryMib(roost.pid(), "VmHWM");
    assertTrue(most < CONTROL_PLANE_MIB, "the control plane had " + most + " MiB");
    assertEquals("succeeded", client.execute(agent, "0").path("state").asText());
  }
}
