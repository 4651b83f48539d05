package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Agents of which one process runs several executions at a time. */
@EveryRuntime
class SharedProcessIT {
  /** Each execution waits until five have begun, and then does what its payload says. */
  private static final String SCRIPT =
      """
      import asyncio, os, sys

      begun = 0
      all_begun = asyncio.Event()

      async def main(request):
          global begun
          what = request.payload
          if request.attempt > 1:
              return {"pid": os.getpid(), "what": "again " + what}
          print("begin", what)
          begun += 1
          if begun == 5:
              all_begun.set()
          await all_begun.wait()
          print("all have begun", file=sys.stderr)
          await asyncio.sleep(0.1)
          if what == "raise":
              raise ValueError("raised by " + what)
          if what == "exit":
              os._exit(7)
          if what == "wait":
              try:
                  await asyncio.sleep(3600)
              finally:
                  print("ended", what)
          if what == "wait for long":
              await asyncio.sleep(3600)
          await asyncio.sleep(3)
          print("end", what)
          return {"pid": os.getpid(), "what": what}
      """;

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

  private static String agent(Object... settings) {
    List<Object> all = new ArrayList<>(List.of(settings));
    all.addAll(List.of("requests_per_process", 5, "max_concurrency", 5));
    return client.agent(SCRIPT, all.toArray());
  }

  private static List<String> submit(String agent, String... payloads) {
    List<String> jobs = new ArrayList<>();
    for (String payload : payloads) {
      jobs.add(client.submit(agent, "\"" + payload + "\""));
    }
    return jobs;
  }

  private static List<String> log(JsonNode job) {
    return client.messages(job.path("execution").path("id").asText());
  }

  private static JsonNode value(JsonNode job) {
    assertEquals("succeeded", job.path("state").asText(), job.toString());
    return job.path("execution").path("return_value");
  }

  @Test
  void fiveExecutionsShareAProcessAndNothingElse() {
    String agent = agent("timeout", 15);
    List<String> jobs = submit(agent, "a", "b", "raise", "wait", "wait for long");
    client.logged(jobs.get(3), "all have begun");
    client.post("/v1/executor-jobs/" + jobs.get(3) + "/cancel", null).expect(200);
    JsonNode cancelled = client.ended(jobs.get(3));
    assertEquals("cancelled", cancelled.path("state").asText());
    assertEquals(List.of("begin wait", "all have begun", "ended wait"), log(cancelled));
    JsonNode raised = client.ended(jobs.get(2));
    assertEquals("failed", raised.path("state").asText());
    assertTrue(raised.path("execution").path("error").toString().contains("raised by raise"));
    JsonNode a = client.ended(jobs.get(0));
    JsonNode b = client.ended(jobs.get(1));
    assertEquals(List.of("begin a", "all have begun", "end a"), log(a));
    assertEquals(List.of("begin b", "all have begun", "end b"), log(b));
    assertEquals(value(a).path("pid"), value(b).path("pid"));
    assertEquals("a", value(a).path("what").asText());
    assertEquals("b", value(b).path("what").asText());
    JsonNode late = client.ended(jobs.get(4));
    assertEquals("deadline_exceeded", late.path("reason").asText());
    Set<String> executors = new HashSet<>();
    for (String job : jobs) {
      executors.add(client.job(job).path("execution").path("executor_id").asText());
    }
    assertEquals(1, executors.size());
  }

  @Test
  void theEndOfAProcessFailsItsExecutionsAndEachIsTriedAgain() {
    String agent = agent("max_attempts", 2, "retry_delay", 0);
    List<String> jobs = submit(agent, "a", "b", "exit", "c", "d");
    for (String job : jobs) {
      JsonNode ended = client.ended(job);
      assertTrue(value(ended).path("what").asText().startsWith("again "), ended.toString());
      JsonNode attempts = client.get("/v1/executions?executor_job_id=" + job).expect(200).json();
      assertEquals(2, attempts.path("data").size());
      String first = attempts.path("data").get(1).toString();
      assertTrue(first.contains("status 7"), first);
    }
  }

  @Test
  @LocalOnly("the same processes do it in a pod; the other tests run them there")
  void theEndOfTheControlPlaneLosesNothing() {
    String agent = agent("keep_warm", 0);
    List<String> jobs = submit(agent, "a", "b", "c", "d", "e");
    client.logged(jobs.get(4), "all have begun");
    roost.kill9();
    roost.start();
    Set<String> processes = new HashSet<>();
    for (String job : jobs) {
      JsonNode ended = client.ended(job);
      processes.add(value(ended).path("pid").asText());
      assertEquals(3, log(ended).size(), job);
    }
    assertEquals(1, processes.size());
  }

  @Test
  @LocalOnly("the same processes do it in a pod; the other tests run them there")
  void executionsThatWaitForCallsLeaveTheProcessToOthers() {
    String callee =
        client.agent(
            "import time\ndef main(request):\n  time.sleep(2)\n  return 2 * request.payload");
    String script =
        """
        import os

        async def main(request):
            value = await request.call("%s", request.payload)
            return {"pid": os.getpid(), "value": value}
        """
            .formatted(callee);
    String agent = client.agent(script, "requests_per_process", 10, "max_concurrency", 10);
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      jobs.add(client.submit(agent, Integer.toString(i)));
    }
    for (int i = 0; i < 4; i++) {
      JsonNode ended = client.ended(jobs.get(i));
      assertEquals(2 * i, value(ended).path("value").asInt());
      assertNotEquals(0, value(ended).path("pid").asInt());
    }
  }

  @Test
  @LocalOnly("the same processes do it in a pod; the other tests run them there")
  void aMainThatIsNotAsyncIsRefusedWithWhatToDo() {
    HttpAnswer refused =
        client.post(
            "/v1/agents", Client.settings("def main():\n    return 1", "requests_per_process", 2));
    assertEquals(422, refused.status());
    assertTrue(refused.text().contains("async def main"), refused.text());
    // Where that can't be seen in the text, the first execution says so.
    String agent = client.agent("main = lambda: 1", "requests_per_process", 2);
    JsonNode failed = client.execute(agent, null);
    assertEquals("bad_signature", failed.path("reason").asText());
    assertTrue(failed.path("message").asText().contains("requests_per_process"), failed.toString());
  }
}
