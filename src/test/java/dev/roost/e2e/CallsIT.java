package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Agents that call each other. */
@EveryRuntime
class CallsIT {
  private static final String DOUBLE =
      """
      def main(request):
          if request.payload is None:
              raise ValueError("nothing to double")
          return 2 * request.payload
      """;

  private static RoostProcess roost;
  private static Client client;

  @BeforeAll
  static void start() {
    roost = RoostProcess.started("ROOST_LIMITS_CALL_DEPTH", "60");
    client = roost.client();
  }

  @AfterAll
  static void stop() {
    roost.close();
  }

  private static List<JsonNode> calls(String job) {
    List<JsonNode> found = new ArrayList<>();
    client
        .get("/v1/executor-jobs?limit=100&parent_id=" + job)
        .expect(200)
        .json()
        .path("data")
        .forEach(found::add);
    return found;
  }

  @Test
  void aCallReturnsWhatTheOtherAgentReturns() {
    String callee = client.agent(DOUBLE);
    String caller =
        client.agent(
            """
            def main(request):
                return request.call(request.payload, 21)
            """);
    JsonNode ended = client.execute(caller, "\"" + callee + "\"");
    assertEquals(42, ended.at("/execution/return_value").asInt(), ended::toString);
    JsonNode call = calls(ended.path("id").asText()).get(0);
    assertEquals(callee, call.path("agent_id").asText());
    assertEquals(ended.path("id"), call.path("parent_id"));
    assertEquals("21", call.path("payload").toString());
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests run calls between pods")
  void aFailureIsRaisedInTheCaller() {
    String callee = client.agent(DOUBLE);
    String caller =
        client.agent(
            """
            def main(request):
                try:
                    request.call(request.payload)
                except request.CallFailed as error:
                    return [error.state, error.reason, error.message]
            """);
    JsonNode ended = client.execute(caller, "\"" + callee + "\"");
    assertEquals(
        "[\"failed\",\"exception\",\"ValueError: nothing to double\"]",
        ended.at("/execution/return_value").toString(),
        ended::toString);
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests run calls between pods")
  void manyAreCalledAtOnceAndTheCallerContinuesOnce() {
    String callee =
        client.agent(DOUBLE.replace("    return", "    import time; time.sleep(0.2)\n    return"));
    String caller =
        client.agent(
            """
            def main(request):
                return sum(request.map(request.payload, range(40)))
            """);
    JsonNode ended = client.execute(caller, "\"" + callee + "\"");
    assertEquals(1560, ended.at("/execution/return_value").asInt(), ended::toString);
    String job = ended.path("id").asText();
    assertEquals(40, calls(job).size());
    JsonNode executions = client.get("/v1/executions?executor_job_id=" + job).expect(200).json();
    assertTrue(executions.path("data").size() <= 2, executions::toString);
  }

  /** It counts down to 0, and never gets there from a negative number. */
  private static String counter(String name) {
    return client.agent(
        """
        def main(request):
            if request.payload == 0:
                return []
            return [request.payload, *request.call("%s", request.payload - 1)]
        """
            .formatted(name),
        "name",
        name,
        "max_concurrency",
        1);
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests run calls between pods")
  void oneSlotIsEnoughForAnyDepth() {
    String job = client.submit(counter("deep"), "50");
    JsonNode ended = client.ended(job, Duration.ofMinutes(5));
    assertEquals(50, ended.at("/execution/return_value").size(), ended::toString);
  }

  @Test
  @LocalOnly("it is the control plane that ends them")
  void agentsThatCallEachOtherInACircleEnd() {
    String job = client.submit(counter("endless"), "-1");
    JsonNode ended = client.ended(job, Duration.ofMinutes(5));
    assertEquals("failed", ended.path("state").asText());
    assertTrue(ended.path("message").asText().contains("roost.limits.call-depth"), ended::toString);
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests run calls between pods")
  void cancellationGoesDownTheTree() {
    String sleeper =
        client.agent(
            """
            import time

            def main(request):
                print("sleeping", flush=True)
                time.sleep(3600)
            """);
    String middle = client.agent("def main(request):\n    return request.call(request.payload)");
    String caller =
        client.agent(
            """
            def main(request):
                middle, sleeper = request.payload
                return request.call(middle, sleeper)
            """);
    String job = client.submit(caller, "[\"%s\", \"%s\"]".formatted(middle, sleeper));
    String below =
        Eventually.value("a call", () -> calls(job).stream().findFirst()).path("id").asText();
    String last =
        Eventually.value("its call", () -> calls(below).stream().findFirst()).path("id").asText();
    client.logged(last, "sleeping");
    Eventually.until(
        "they are suspended",
        () ->
            List.of(job, below).stream()
                .allMatch(each -> client.job(each).path("state").asText().equals("suspended")));
    assertEquals("call", client.job(job).path("waiting_on").asText());
    client.post("/v1/executor-jobs/" + job + "/cancel", null).expect(200);
    for (String each : List.of(job, below, last)) {
      assertEquals("cancelled", client.ended(each).path("state").asText());
    }
  }

  @Test
  void callsOutlastWhateverIsKilled() {
    StoreKills kills = new StoreKills(roost, 1);
    try (Tally outside = new Tally()) {
      String callee =
          client.agent(
              Tally.TELL
                  + """

                  import time

                  def main(request):
                      address, n = request.payload
                      time.sleep(3)
                      request.step("tell", tell, address, str(n))
                      return n
                  """,
              "max_attempts",
              10,
              "retry_delay",
              0);
      String caller =
          client.agent(
              """
              def main(request):
                  callee, address = request.payload
                  found = []
                  for n in range(3):
                      found.append(request.call(callee, [address, n]))
                  return found
              """,
              "max_attempts",
              10,
              "retry_delay",
              0);
      String job = client.submit(caller, "[\"%s\", %s]".formatted(callee, outside.address()));
      for (int kind = 2; kind < StoreKills.KINDS; kind++) {
        int enough = kind - 2;
        Eventually.until("it has gone on", () -> outside.told().size() >= enough);
        kills.kill(kind);
      }
      JsonNode ended = client.ended(job);
      assertEquals("[0,1,2]", ended.at("/execution/return_value").toString(), ended::toString);
      assertEquals(3, calls(job).size(), "each was submitted once");
    }
  }
}
