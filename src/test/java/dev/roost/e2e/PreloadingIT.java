package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Executions that find their script's modules imported, by the template of their executor. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class PreloadingIT {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static final String SCRIPT =
      """
      import sys

      EARLY = "numpy" in sys.modules

      import numpy as np

      def main():
          product = np.arange(40_000.0).reshape(200, 200) @ np.ones((200, 200))
          return {"early": EARLY, "random": np.random.random(), "sum": float(product.sum())}
      """;

  @Test
  void numpyIsImportedOnceAndItsRandomNumbersDiffer(Client client) {
    String agent =
        client.agent(
            SCRIPT, "requirements", "numpy==2.2.6", "keep_warm", 600, "max_concurrency", 1);
    JsonNode first = execute(client, agent);
    assertFalse(first.path("early").asBoolean());
    Eventually.until(
        "an execution finds numpy imported",
        LIMIT,
        () -> execute(client, agent).path("early").asBoolean());
    Set<Double> random = new HashSet<>(Set.of(first.path("random").asDouble()));
    for (int i = 0; i < 3; i++) {
      JsonNode value = execute(client, agent);
      assertEquals(first.path("sum"), value.path("sum"));
      random.add(value.path("random").asDouble());
    }
    assertEquals(4, random.size());
    JsonNode preloaded = client.get("/v1/agents/" + agent).expect(200).json().path("preloaded");
    assertTrue(preloaded.path("modules").asInt() > 50, preloaded.toString());
    assertTrue(preloaded.path("packages").toString().contains("\"numpy\""), preloaded.toString());
    assertEquals(0, preloaded.path("left_out").size(), preloaded.toString());

    client.change(agent, "preload", "off");
    for (int i = 0; i < 3; i++) {
      assertFalse(execute(client, agent).path("early").asBoolean());
    }
  }

  private static JsonNode execute(Client client, String agent) {
    JsonNode job = client.execute(agent, null);
    assertEquals("succeeded", job.path("state").asText(), job.toString());
    return job.path("execution").path("return_value");
  }
}
