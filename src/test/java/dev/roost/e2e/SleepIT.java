package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Jobs whose scripts sleep without a process. */
@EveryRuntime
class SleepIT {
  private static final String SLEEPER =
      Tally.TELL
          + """

          def main(request):
              address, seconds = request.payload
              try:
                  request.step("before", tell, address, "before")
                  request.sleep(seconds)
                  request.step("after", tell, address, "after")
                  return request.attempt
              finally:
                  tell(address, "finally")
          """;

  private static RoostProcess roost;
  private static Client client;

  @BeforeAll
  static void start() {
    roost = RoostProcess.started("ROOST_EXECUTORS_SUSPEND_AFTER", "1s");
    client = roost.client();
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  private static String sleep(String agent, Tally outside, int seconds) {
    return client.submit(agent, "[%s, %d]".formatted(outside.address(), seconds));
  }

  private static JsonNode suspended(String job) {
    Eventually.until(
        job + " is suspended", () -> client.job(job).path("state").asText().equals("suspended"));
    return client.job(job);
  }

  @Test
  void aSleepTakesNoProcessAndNoConcurrency() {
    String agent = client.agent(SLEEPER, "max_concurrency", 1);
    try (Tally outside = new Tally()) {
      String job = sleep(agent, outside, 20);
      JsonNode waiting = suspended(job);
      assertEquals("timer", waiting.path("waiting_on").asText());
      Instant resumes = Instant.parse(waiting.path("resume_at").asText());
      assertEquals("suspended", waiting.path("execution").path("state").asText());
      assertEquals(List.of("before"), outside.told(), "nothing is unwound");
      // The only executor of the agent is free for others.
      for (int i = 0; i < 3; i++) {
        JsonNode other = client.execute(agent, "[%s, 0]".formatted(outside.address()));
        assertEquals("succeeded", other.path("state").asText(), other::toString);
      }
      assertEquals("suspended", client.job(job).path("state").asText());
      JsonNode ended = client.ended(job);
      assertEquals("succeeded", ended.path("state").asText(), ended::toString);
      assertEquals(1, ended.path("execution").path("return_value").asInt());
      assertEquals(1, ended.path("attempts").asInt());
      assertTrue(!Instant.parse(ended.path("finished_at").asText()).isBefore(resumes), "not early");
      assertNotEquals(waiting.path("execution").path("id"), ended.path("execution").path("id"));
      assertEquals(Map.of("before", 4L, "after", 4L, "finally", 4L), outside.counts());
    }
  }

  @Test
  void aSleepOutlastsWhateverIsKilled() {
    String agent = client.agent(SLEEPER);
    StoreKills kills = new StoreKills(roost, 1);
    try (Tally outside = new Tally()) {
      String job = sleep(agent, outside, 25);
      suspended(job);
      for (int kind = 0; kind < StoreKills.KINDS; kind++) {
        kills.kill(kind);
      }
      JsonNode ended = client.ended(job);
      assertEquals("succeeded", ended.path("state").asText(), () -> kills + " " + ended);
      assertEquals(1, ended.path("attempts").asInt());
      assertEquals(List.of("before", "after", "finally"), outside.told());
    }
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests sleep without a pod")
  void aRetryDoesNotSleepAgain() {
    String agent =
        client.agent(
            """
            def main(request):
                request.sleep(3)
                if request.attempt < 3:
                    raise RuntimeError("again")
                return request.attempt
            """,
            "max_attempts",
            3,
            "retry_delay",
            0);
    JsonNode ended = client.execute(agent, null);
    assertEquals(3, ended.path("execution").path("return_value").asInt(), ended::toString);
    JsonNode sleeps =
        client.get("/v1/executor-jobs/" + ended.path("id").asText() + "/steps").json();
    assertEquals(1, sleeps.path("data").size(), sleeps::toString);
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests sleep without a pod")
  void aSuspendedJobContinuesWithItsRevision() {
    String agent = client.agent(SLEEPER);
    try (Tally outside = new Tally()) {
      String job = sleep(agent, outside, 10);
      suspended(job);
      client.change(agent, "script", "def main():\n    return 'another'");
      client.runsNewest(agent);
      assertEquals("another", client.execute(agent, null).at("/execution/return_value").asText());
      JsonNode ended = client.ended(job);
      assertEquals(1, ended.at("/execution/return_value").asInt(), ended::toString);
      assertEquals(1, ended.path("agent_revision").asInt());
    }
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests sleep without a pod")
  void aSuspendedJobIsCancelledAtOnce() {
    String agent = client.agent(SLEEPER);
    try (Tally outside = new Tally()) {
      String job = sleep(agent, outside, 86_400 * 365);
      JsonNode waiting = suspended(job);
      Instant resumes = Instant.parse(waiting.path("resume_at").asText());
      assertTrue(resumes.isAfter(Instant.now().plus(Duration.ofDays(364))), waiting::toString);
      client.post("/v1/executor-jobs/" + job + "/cancel", null).expect(200);
      JsonNode ended = client.job(job);
      assertEquals("cancelled", ended.path("state").asText());
      assertEquals("Cancelled while it waited.", ended.path("message").asText());
    }
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests sleep without a pod")
  void sleepsAndStepsAtTheSameTime() {
    String agent =
        client.agent(
            """
            import asyncio

            async def branch(request, number):
                first = await request.step(f"first {number}", lambda: number)
                await request.sleep(2 + 2 * number, name=f"sleep {number}")
                return await request.step(f"second {number}", lambda: 10 * first)

            async def main(request):
                return await asyncio.gather(*(branch(request, number) for number in range(3)))
            """);
    JsonNode ended = client.execute(agent, null);
    assertEquals("[0,10,20]", ended.at("/execution/return_value").toString(), ended::toString);
  }

  @Test
  void manyFallDueAtTheSameTime() {
    String agent =
        client.agent(
            """
            from datetime import datetime

            def main(request):
                request.sleep(until=datetime.fromisoformat(request.payload))
                return 1
            """,
            "max_concurrency",
            4);
    client.execute(agent, "\"2026-01-01T00:00:00+00:00\"");
    String due = Instant.now().plusSeconds(10).toString().replace("Z", "+00:00");
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      jobs.add(client.submit(agent, "\"" + due + "\""));
    }
    for (String job : jobs) {
      assertEquals("succeeded", client.ended(job).path("state").asText());
    }
  }
}
