package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Questions that scripts ask people. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class ApprovalsIT extends RunningExecution {
  private static final String FORM =
      """
      , "form": {"type": "object", "required": ["amount"], "properties": {
          "amount": {"type": "number", "minimum": 1, "maximum": 100},
          "kind": {"type": "string", "enum": ["once", "monthly"]}, "sure": {"type": "boolean"}}}""";

  private String ask(int seq, String more) {
    run(
        """
        {"op": "approval", "seq": %d, "path": "%d", "name": "pay", "title": "Pay?"%s}"""
            .formatted(seq, seq, more));
    return list("").<List<String>>get("data.id").get(0);
  }

  private Api.Answer list(String more) {
    return api.get("/v1/approvals?executor_job_id=" + job + more);
  }

  private Api.Answer decide(String id, String how, String body) {
    return api.send("POST", "/v1/approvals/" + id + "/" + how, body);
  }

  @Test
  void anApprovalIsTheResult() {
    String id = ask(1, ", \"details\": {\"n\": 1.0}, \"assignees\": [\"ada\"]");
    ask(1, ", \"details\": {\"n\": 1.0}, \"assignees\": [\"ada\"]");
    assertEquals(List.of(id), list("").get("data.id"), "a repeated request asks nobody again");
    Api.Answer asked = api.get("/v1/approvals/" + id);
    assertEquals("pending", asked.get("state"));
    assertTrue(asked.text().contains("{\"n\": 1.0}"), asked.text());
    assertEquals(0, outcomes().size());
    Api.Answer decided = decide(id, "approve", "{\"comment\": \"Fine.\"}");
    assertEquals(200, decided.status(), decided::text);
    assertEquals("approved", decided.get("state"));
    JsonNode result = outcomes().at("/0/result");
    assertEquals(
        "{\"approved\":true,\"by\":\"%s\",\"comment\":\"Fine.\",\"value\":null}"
            .formatted(decided.<String>get("decided_by")),
        result.asText());
    Api.Answer history = api.get("/v1/executor-jobs/" + job + "/steps");
    assertEquals(List.of("approval"), history.get("data.kind"));
    assertEquals(List.of(id), history.get("data.approval_id"));
  }

  @Test
  void theFirstDecisionCounts() {
    String id = ask(1, "");
    assertEquals("rejected", decide(id, "reject", "{}").get("state"));
    assertEquals(200, decide(id, "reject", "{}").status(), "the same again");
    Api.Answer other = decide(id, "approve", "{}");
    assertEquals(409, other.status());
    assertTrue(other.text().contains("is rejected already, by "), other.text());
    assertTrue(outcomes().at("/0/result").asText().startsWith("{\"approved\":false"));
  }

  @Test
  void manyDecideAtOnce() throws Exception {
    String id = ask(1, "");
    List<Callable<Integer>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      String how = i % 2 == 0 ? "approve" : "reject";
      all.add(() -> decide(id, how, "{}").status());
    }
    ExecutorService threads = Executors.newFixedThreadPool(8);
    List<Integer> statuses = new ArrayList<>();
    try {
      for (var future : threads.invokeAll(all)) {
        statuses.add(future.get());
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals(4, statuses.stream().filter(status -> status == 200).count(), statuses::toString);
    assertEquals(4, statuses.stream().filter(status -> status == 409).count(), statuses::toString);
  }

  @Test
  void aFormIsChecked() {
    String id = ask(1, FORM);
    assertEquals("/value/amount", decide(id, "approve", "{}").get("errors[0].pointer"));
    for (String value :
        List.of(
            "{\"amount\": 0}",
            "{\"amount\": \"20\"}",
            "{\"amount\": 101}",
            "{\"amount\": 20, \"kind\": \"never\"}",
            "{\"amount\": 20, \"sure\": 1}",
            "{\"amount\": 20, \"more\": 1}",
            "{\"amount\": 1e999}",
            "{\"amount\": -1e999999999}",
            "{\"amount\": 1" + "0".repeat(5_000) + "}",
            "[]")) {
      assertEquals(422, decide(id, "approve", "{\"value\": " + value + "}").status(), value);
    }
    assertEquals("pending", api.get("/v1/approvals/" + id).get("state"));
    Api.Answer approved =
        decide(id, "approve", "{\"value\": {\"amount\": 20.50, \"kind\": \"once\"}}");
    assertEquals(200, approved.status(), approved::text);
    assertTrue(approved.text().contains("20.50"), approved.text());
    assertTrue(outcomes().at("/0/result").asText().contains("{\"amount\": 20.50, "));
  }

  @Test
  void numbersOfAnySizeAreExact() {
    String id =
        ask(
            1,
            """
            , "form": {"properties": {"n": {"type": "number", "minimum": 1e999999998},
              "t": {"type": "string", "minLength": 1e999999999, "maxLength": 1e999}}}""");
    assertEquals(422, decide(id, "approve", "{\"value\": {\"t\": \"x\"}}").status());
    Api.Answer approved = decide(id, "approve", "{\"value\": {\"n\": 1e999999999}}");
    assertEquals(200, approved.status(), approved::text);
    assertTrue(outcomes().at("/0/result").asText().contains("{\"n\": 1e999999999}"));
  }

  @Test
  void aFormThatPagesCannotShowIsRefused() {
    for (String form :
        List.of(
            "[]",
            "{}",
            "{\"properties\": {\"a\": {}}}",
            "{\"properties\": {\"a\": {\"type\": \"object\"}}}",
            "{\"properties\": {\"a\": {\"type\": \"string\", \"pattern\": \"(a+)+\"}}}",
            "{\"properties\": {\"a\": {\"type\": \"string\", \"enum\": [1]}}}",
            "{\"properties\": {\"a\": {\"type\": \"string\"}}, \"required\": [\"b\"]}")) {
      Problem refused = assertThrows(Problem.class, () -> ask(1, ", \"form\": " + form));
      assertEquals(ErrorCode.VALIDATION_FAILED, refused.code(), form);
    }
    assertEquals(0, rows.count("executor_job_step where executor_job_id = ?", job));
  }

  @Test
  void aDecisionContinuesASuspendedJob() {
    String id = ask(1, "");
    suspend("[1]", true);
    assertEquals("approval", read(job).get("waiting_on"));
    suspended.pass();
    assertEquals("suspended", read(job).get("state"));
    decide(id, "approve", "{}");
    suspended.pass();
    assertEquals("queued", read(job).get("state"));
  }

  @Test
  void aDecisionThatComesJustBeforeTheSuspensionContinuesIt() {
    String id = ask(1, "");
    decide(id, "reject", "{}");
    suspend("[1]", true);
    suspended.pass();
    assertEquals("queued", read(job).get("state"));
  }

  @Test
  void aTimeoutEndsIt() throws InterruptedException {
    String id = ask(1, ", \"timeout\": 0.05");
    Thread.sleep(100);
    assertEquals(409, decide(id, "approve", "{}").status());
    JsonNode outcomes = outcomes();
    assertEquals("nobody has decided in time: pay", outcomes.at("/0/error/message").asText());
    assertEquals("expired", api.get("/v1/approvals/" + id).get("state"));
    assertEquals(409, decide(id, "approve", "{}").status());
  }

  @Test
  void nothingIsDecidedForAJobThatHasEnded() {
    String id = ask(1, "");
    suspend("[1]", true);
    cancel(job);
    assertEquals(409, decide(id, "approve", "{}").status());
  }

  @Test
  void theListIsFiltered() {
    String first = ask(1, ", \"assignees\": [\"ada\", \"grace\"]");
    String second = ask(2, ", \"assignees\": [\"grace\"]");
    decide(first, "approve", "{}");
    assertEquals(List.of(second), list("&state=pending").get("data.id"));
    assertEquals(List.of(first), list("&assignee=ada").get("data.id"));
    assertEquals(List.of(second, first), list("&assignee=grace").get("data.id"));
    assertNotNull(list("&limit=1").get("next_cursor"));
    assertEquals(1, (int) api.get("/v1/approvals/counts?agent_id=" + agent).get("pending"));
  }

  @Test
  void aLinkDecidesWithoutAKey() {
    String id = ask(1, FORM);
    Api.Answer link = decide(id, "links", "{\"assignee\": \"ada\"}");
    assertEquals(201, link.status(), link::text);
    String token = link.<String>get("url").replaceAll(".*token=", "");
    Api nobody = Api.withKey(null);
    Api.Answer shown =
        nobody.send("POST", "/v1/approval-links/show", "{\"token\": \"" + token + "\"}");
    assertEquals(200, shown.status(), shown::text);
    assertEquals("Pay?", shown.get("title"));
    assertEquals("pending", shown.get("state"));
    String decision = "{\"token\": \"%s\", \"approved\": %s, \"value\": {\"amount\": 5}}";
    Api.Answer decided =
        nobody.send("POST", "/v1/approval-links/decide", decision.formatted(token, "true"));
    assertEquals(200, decided.status(), decided::text);
    assertEquals("ada", api.get("/v1/approvals/" + id).get("decided_by"));
    Api.Answer again =
        nobody.send(
            "POST",
            "/v1/approval-links/decide",
            "{\"token\": \"%s\", \"approved\": false}".formatted(token));
    assertEquals(409, again.status());
    assertEquals(409, decide(id, "links", "{}").status());
    assertEquals(
        404,
        nobody.send("POST", "/v1/approval-links/show", "{\"token\": \"" + token + "0\"}").status());
    rows.run("update approval_link set expires_at = now() where approval_id = ?", id);
    assertEquals(
        404,
        nobody.send("POST", "/v1/approval-links/show", "{\"token\": \"" + token + "\"}").status());
  }

  @Test
  void whoMayOnlyReadDoesNotDecide() {
    String id = ask(1, "");
    Api reader = Api.as(Role.READ);
    assertEquals("pending", reader.get("/v1/approvals/" + id).get("state"));
    assertEquals(403, reader.send("POST", "/v1/approvals/" + id + "/approve", "{}").status());
    assertEquals(404, decide("approval_0", "approve", "{}").status());
    assertEquals(422, decide(id, "approve", "{\"value\": {}}").status(), "without a form");
    assertNull(api.get("/v1/approvals/" + id).get("decided_at"));
  }
}
