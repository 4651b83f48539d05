package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.metrics.Scrape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What metrics tell of executions; others of this run may go on meanwhile. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class MeasuredIT {
  private static final String STEPS = "roost_execution_step_seconds_count";

  @Test
  void everyStepOfAnExecutionIsMeasured(Client client) {
    Scrape before = scrape(client);
    String agent =
        client.agent(
            """
            def main(request):
                return 1 / request.payload
            """,
            "requirements",
            "toml==0.10.1", // of no other test, so that it is built
            "keep_warm",
            600,
            "max_concurrency",
            1);
    for (int payload : new int[] {1, 1, 0}) {
      client.post("/v1/agents/" + agent + "/execute?wait=60", "{\"payload\": " + payload + "}");
    }
    Scrape after = scrape(client);
    assertGrown(before, after, 2, "roost_executions_total", "state", "succeeded", "reason", "none");
    assertGrown(
        before, after, 1, "roost_executions_total", "state", "failed", "reason", "exception");
    for (String step : new String[] {"queued", "starting", "running", "storing", "answering"}) {
      assertGrown(before, after, 1, STEPS, "step", step, "start", "cold");
      assertGrown(before, after, 2, STEPS, "step", step, "start", "warm");
    }
    String sum = "roost_execution_step_seconds_sum";
    assertTrue(after.value(sum, "step", "starting") > 0, "starting takes no time");
    assertGrown(before, after, 1, "roost_builds_total");
    double posted = after.value("roost_http_requests_total", "method", "POST", "status", "201");
    assertTrue(posted >= 4, posted + " requests");
    double claimed = after.value("roost_last_claim_timestamp_seconds");
    assertTrue(System.currentTimeMillis() / 1e3 - claimed < 60, "claimed at " + claimed);
    assertEquals(1, after.value("roost_leader"));
  }

  private static void assertGrown(
      Scrape before, Scrape after, int least, String name, String... labels) {
    double grown = after.value(name, labels) - before.value(name, labels);
    assertTrue(grown >= least, name + " " + String.join(" ", labels) + " has grown by " + grown);
  }

  private static Scrape scrape(Client client) {
    return new Scrape(client.get("/v1/metrics").expect(200).text());
  }
}
