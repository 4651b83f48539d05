package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Durable steps through whatever ends an attempt, or makes it wait. */
@EveryRuntime
class StepsIT {
  private static RoostProcess roost;
  private static Client client;

  @BeforeAll
  static void start() {
    roost = RoostProcess.started();
    client = roost.client();
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  @Test
  void eachStoredResultHasHadItsEffectOnceThroughKillsOfEveryPart() {
    StoreKills kills = new StoreKills(roost, 1);
    try (Tally outside = new Tally()) {
      String agent = client.agent(StepEffects.SCRIPT, "max_attempts", 10, "retry_delay", 0);
      outside.answerUntil(2);
      String job = client.submit(agent, outside.address());
      for (int kind = 0; kind < StoreKills.KINDS; kind++) {
        int enough = 3 + 5 * kind;
        Eventually.until("it has gone on", () -> outside.told().size() >= enough);
        if (kind < 2) {
          roost.workers().executorOf(agent, kind == 0 ? "runner" : "sidecar").kill();
          outside.answerUntil(enough + 4);
        } else {
          outside.answerUntil(enough + 4);
          kills.kill(kind);
        }
      }
      outside.answerUntil(Integer.MAX_VALUE);
      client.ended(job);
      int attempts = StepEffects.settle(client, job, outside.counts(), kills.toString());
      assertTrue(attempts > 1, "executors were killed");
      StepEffects.assertLost(1, attempts, outside.counts());
    }
  }

  @Test
  @LocalOnly("the same processes do it in a pod; the other test kills them there")
  void aRetryRunsAgainOnlyWhatHasFailed() {
    String agent =
        client.agent(
            """
            def double(n):
                return 2 * n

            def fail(attempt):
                if attempt < 3:
                    raise OSError(5, "not yet")
                return "at last"

            def main(request):
                first = request.step("double", double, request.attempt)
                return [first, request.step("fail", fail, request.attempt), request.attempt]
            """,
            "max_attempts",
            5,
            "retry_delay",
            0);
    JsonNode ended = client.execute(agent, null);
    assertEquals(
        "[2,\"at last\",3]",
        ended.path("execution").path("return_value").toString(),
        ended::toString);
    Map<String, Integer> runs = new HashMap<>();
    List<JsonNode> steps = StepEffects.steps(client, ended.path("id").asText());
    steps.forEach(step -> runs.merge(step.path("name").asText(), 1, Integer::sum));
    assertEquals(Map.of("double", 1, "fail", 3), runs);
    assertEquals("OSError", steps.get(1).path("error").path("type").asText());
    assertEquals("[Errno 5] not yet", steps.get(1).path("error").path("message").asText());
  }

  @Test
  @LocalOnly("the same processes do it in a pod; the other test kills them there")
  void aRetryThatAsksForOtherStepsFailsAndIsNotRetried() {
    String agent =
        client.agent(
            """
            def main(request):
                request.step(f"step of attempt {request.attempt}", lambda: 1)
                raise RuntimeError("again")
            """,
            "max_attempts",
            5,
            "retry_delay",
            0);
    JsonNode ended = client.execute(agent, null);
    assertEquals("failed", ended.path("state").asText());
    assertEquals("replay_diverged", ended.path("reason").asText());
    assertEquals(2, ended.path("attempts").asInt());
    String message = ended.path("message").asText();
    assertTrue(message.contains("'step of attempt 2'"), message);
    assertTrue(message.contains("'step of attempt 1'"), message);
  }

  @Test
  @LocalOnly("the same processes do it in a pod; the other test kills them there")
  void manyStepsOfAnAsyncScriptRunAtTheSameTime() {
    String agent =
        client.agent(
            """
            import asyncio

            async def square(n):
                await asyncio.sleep(0.2)
                return n * n

            async def main(request):
                values = await asyncio.gather(*(request.step(f"{n}", square, n) for n in range(200)))
                if request.attempt == 1:
                    raise RuntimeError("again")
                return sum(values)
            """,
            "max_attempts",
            2,
            "retry_delay",
            0);
    JsonNode ended = client.execute(agent, null);
    assertEquals(2_646_700, ended.path("execution").path("return_value").asInt(), ended::toString);
    List<JsonNode> steps = StepEffects.steps(client, ended.path("id").asText());
    assertEquals(200, steps.size());
    assertEquals(
        1,
        steps.stream().map(step -> step.path("execution_id").asText()).distinct().count(),
        "the first attempt ran them all");
  }
}
