package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Scripts that ask people. */
@EveryRuntime
class WaitForApprovalIT {
  private static final String PAY =
      """
      def main(request):
          form = {"properties": {"amount": {"type": "number"}}, "required": ["amount"]}
          decision = request.approval("Pay?", request.payload, form=form)
          return [bool(decision), decision.comment, decision.value]
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

  /** The approval that a job waits for. */
  private static String asked(String job) {
    return Eventually.value(
            "somebody is asked",
            () ->
                client
                    .get("/v1/approvals?executor_job_id=" + job)
                    .expect(200)
                    .json()
                    .path("data")
                    .valueStream()
                    .findFirst())
        .path("id")
        .asText();
  }

  private static JsonNode decide(String id, String how, String body) {
    return client.post("/v1/approvals/" + id + "/" + how, body).expect(200).json();
  }

  private static void isSuspended(String job) {
    Eventually.until(
        "the job waits for an approval",
        () -> client.job(job).path("waiting_on").asText().equals("approval"));
  }

  @Test
  @LocalOnly("the control plane decides it; the other test kills pods meanwhile")
  void theScriptContinuesWithTheDecision() {
    String job = client.submit(client.agent(PAY), "{\"to\": \"Bob\"}");
    String id = asked(job);
    isSuspended(job);
    client.post("/v1/approvals/" + id + "/approve", "{}").expect(422);
    decide(id, "approve", "{\"value\": {\"amount\": 20}, \"comment\": \"Fine.\"}");
    JsonNode ended = client.ended(job);
    assertEquals(
        "[true,\"Fine.\",{\"amount\":20}]",
        ended.at("/execution/return_value").toString(),
        ended::toString);
  }

  @Test
  @LocalOnly("the control plane decides it; the other test kills pods meanwhile")
  void aCancelledJobAsksNobodyAnyMore() {
    String job = client.submit(client.agent(PAY), "null");
    String id = asked(job);
    isSuspended(job);
    client.post("/v1/executor-jobs/" + job + "/cancel", null).expect(200);
    Eventually.until(
        "the approval is cancelled",
        () ->
            client
                .get("/v1/approvals/" + id)
                .expect(200)
                .json()
                .path("state")
                .asText()
                .equals("cancelled"));
    client.post("/v1/approvals/" + id + "/reject", "{}").expect(409);
  }

  @Test
  void decisionsOutlastWhateverIsKilled() {
    StoreKills kills = new StoreKills(roost, 1);
    String agent =
        client.agent(
            """
            def main(request):
                return [bool(request.approval(f"Step {n}?")) for n in range(request.payload)]
            """,
            "max_attempts",
            10,
            "retry_delay",
            0);
    String job = client.submit(agent, "" + StoreKills.KINDS);
    for (int kind = 0; kind < StoreKills.KINDS; kind++) {
      int asked = kind + 1;
      String id =
          Eventually.value(
                  "the next question",
                  () -> {
                    JsonNode all =
                        client.get("/v1/approvals?executor_job_id=" + job).json().path("data");
                    return all.size() == asked ? all.valueStream().findFirst() : Optional.empty();
                  })
              .path("id")
              .asText();
      kills.kill(kind);
      Eventually.until(
          "it is decided",
          () -> client.post("/v1/approvals/" + id + "/approve", "{}").status() == 200);
    }
    JsonNode ended = client.ended(job);
    assertEquals(
        "[true,true,true,true,true]",
        ended.at("/execution/return_value").toString(),
        ended::toString);
  }
}
