package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Scripts that wait for events. */
@EveryRuntime
class WaitForEventIT {
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

  private static void isSuspended(String job) {
    Eventually.until(
        "the job waits for an event",
        () -> client.job(job).path("waiting_on").asText().equals("event"));
  }

  private static JsonNode send(String path, String event) {
    return client.post(path, event).expect(201).json();
  }

  @Test
  void eachWaitGetsItsOwnEventAndTheSlotIsFreeMeanwhile() {
    String agent =
        client.agent(
            """
            def main(request):
                if request.payload == "other":
                    return "other"
                return [request.wait_for_event("approved")["by"] for n in range(3)]
            """,
            "max_concurrency",
            1);
    String job = client.submit(agent, "null");
    isSuspended(job);
    assertEquals(
        "other", client.execute(agent, "\"other\"").at("/execution/return_value").asText());
    for (String by : List.of("Ada", "Grace", "Barbara")) {
      send(
          "/v1/executor-jobs/" + job + "/events",
          "{\"name\": \"approved\", \"data\": {\"by\": \"" + by + "\"}}");
    }
    JsonNode ended = client.ended(job);
    assertEquals(
        "[\"Ada\",\"Grace\",\"Barbara\"]",
        ended.at("/execution/return_value").toString(),
        ended::toString);
    assertEquals(1, ended.path("attempts").asInt());
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests run in pods")
  void keysFindTheJobBeforeAndAfterItWaits() {
    String agent =
        client.agent(
            """
            import asyncio

            async def main(request):
                waits = [request.wait_for_event("paid", key=key) for key in request.payload]
                return await asyncio.gather(*waits)
            """);
    send("/v1/events", "{\"name\": \"paid\", \"key\": \"early\", \"data\": 1}");
    String job = client.submit(agent, "[\"late\", \"early\"]");
    isSuspended(job);
    JsonNode late = send("/v1/events", "{\"name\": \"paid\", \"key\": \"late\", \"data\": 2}");
    assertEquals(job, late.path("executor_job_id").asText(), late::toString);
    JsonNode ended = client.ended(job);
    assertEquals("[2,1]", ended.at("/execution/return_value").toString(), ended::toString);
    assertEquals(
        2,
        client.get("/v1/executor-jobs/" + job + "/events").expect(200).json().path("data").size());
  }

  @Test
  @LocalOnly("the control plane decides it; the other tests run in pods")
  void aTimeoutIsRaised() {
    String agent =
        client.agent(
            """
            def main(request):
                try:
                    request.wait_for_event("never", timeout=2)
                except request.WaitTimeout as error:
                    return str(error)
            """);
    JsonNode ended = client.execute(agent, "null");
    assertEquals(
        "no event never came in time",
        ended.at("/execution/return_value").asText(),
        ended::toString);
  }

  @Test
  void eventsOutlastWhateverIsKilled() {
    StoreKills kills = new StoreKills(roost, 1);
    int number = StoreKills.KINDS;
    String agent =
        client.agent(
            """
            def main(request):
                return [request.wait_for_event("go")["n"] for n in range(request.payload)]
            """,
            "max_attempts",
            10,
            "retry_delay",
            0);
    String job = client.submit(agent, "" + number);
    isSuspended(job);
    for (int kind = 0; kind < number; kind++) {
      String event = "{\"name\": \"go\", \"data\": {\"n\": " + kind + "}}";
      kills.kill(kind);
      String key = "event-" + kind;
      Eventually.until(
          "it is sent",
          () -> {
            int status =
                client
                    .post("/v1/executor-jobs/" + job + "/events", event, "Idempotency-Key", key)
                    .status();
            assertTrue(status == 200 || status == 201 || status == 503, () -> "" + status);
            return status != 503;
          });
    }
    JsonNode ended = client.ended(job);
    assertEquals(
        IntStream.range(0, number).boxed().toList().toString().replace(" ", ""),
        ended.at("/execution/return_value").toString(),
        ended::toString);
  }
}
