package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Executions of unsaved scripts. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class DraftsIT {
  private static final String SAVED =
      """
      def main(request):
          return ["saved", request.payload]
      """;

  private static final String DRAFT =
      """
      import os

      def main(request):
          return ["draft", os.environ.get("PLACE"), request.payload, request.attempt]
      """;

  private static JsonNode execute(Client client, String agent, String script, String payload) {
    String body =
        "{\"script\": %s, \"payload\": %s}"
            .formatted(JsonNodeFactory.instance.textNode(script), payload);
    JsonNode job =
        client.post("/v1/agents/" + agent + "/execute-draft?wait=60", body).expect(201).json();
    return client.ended(job.path("id").asText());
  }

  private static String value(JsonNode job) {
    return job.path("execution").path("return_value").toString();
  }

  @Test
  void aDraftRunsWithEverythingElseOfTheRevision(Client client) {
    String agent = client.agent(SAVED, "env_vars", "PLACE=here");
    JsonNode first = execute(client, agent, DRAFT, "{\"n\": 1}");
    assertEquals("[\"draft\",\"here\",{\"n\":1},1]", value(first));
    assertTrue(first.path("draft").asBoolean());
    assertTrue(first.path("execution").path("draft").asBoolean());
    assertEquals(1, first.path("agent_revision").asInt());

    JsonNode saved = client.execute(agent, "2");
    assertEquals("[\"saved\",2]", value(saved));
    assertFalse(saved.path("draft").asBoolean());
    assertFalse(saved.path("execution").path("draft").asBoolean());
    assertEquals(
        first.path("execution").path("build_id"), saved.path("execution").path("build_id"));

    JsonNode warm = execute(client, agent, DRAFT.replace("\"draft\"", "\"other\""), "3");
    assertEquals("[\"other\",\"here\",3,1]", value(warm));
    assertFalse(warm.path("execution").path("cold_start").asBoolean());
    assertEquals("[\"saved\",4]", value(client.execute(agent, "4")));
    assertEquals(1, client.get("/v1/agents/" + agent).json().path("revision").asInt());

    String job = first.path("id").asText();
    assertEquals(
        DRAFT,
        client
            .get("/v1/executor-jobs/" + job + "/draft")
            .expect(200)
            .json()
            .path("script")
            .asText());
    client.get("/v1/executor-jobs/" + saved.path("id").asText() + "/draft").expect(404);
    client.get("/v1/executor-jobs/" + job + "x/draft").expect(404);
  }

  @Test
  void aRetryRunsTheDraftAgain(Client client) {
    String agent = client.agent(SAVED, "max_attempts", 2, "retry_delay", 0);
    String script = "def main(request):\n  return 'draft' if request.attempt == 2 else 1 / 0\n";
    JsonNode job = execute(client, agent, script, "null");
    assertEquals("\"draft\"", value(job));
    assertEquals(2, job.path("attempts").asInt());
    String executions = "/v1/executions?executor_job_id=" + job.path("id").asText();
    assertEquals(2, client.get(executions + "&draft=true").json().path("data").size());
    assertEquals(0, client.get(executions + "&draft=false").json().path("data").size());
  }

  @Test
  @LocalOnly("figures are the same on every runtime")
  void figuresLeaveDraftsOut(Client client) {
    String agent = client.agent(SAVED);
    client.execute(agent, "1");
    JsonNode failed = execute(client, agent, "def main():\n  return 1 / 0\n", "1");
    assertEquals("failed", failed.path("state").asText());
    JsonNode total = client.get("/v1/agents/" + agent + "/performance").json().path("total");
    assertEquals(1, total.path("succeeded").asInt());
    assertEquals(0, total.path("failed").asInt());
    JsonNode activity =
        client.get("/v1/agents/" + agent + "?include=activity").json().path("activity");
    assertEquals("succeeded", activity.path("last_execution").path("state").asText());
    assertEquals(0, activity.path("executions_7d").path("failed").asInt());
    String jobs = "/v1/executor-jobs?agent_id=" + agent;
    assertEquals(1, client.get(jobs + "&draft=true").json().path("data").size());
    assertEquals(1, client.get(jobs + "&draft=false").json().path("data").size());
    assertEquals(2, client.get(jobs).json().path("data").size());
    client.get(jobs + "&draft=yes").expect(422);
  }

  @Test
  @LocalOnly("requests are checked before any runtime sees them")
  void whatCannotRunIsRejected(Client client) {
    String agent = client.agent(SAVED);
    String path = "/v1/agents/" + agent + "/execute-draft";
    client.post(path, "{\"payload\": 1}").expect(422);
    client.post(path, "{\"script\": 1}").expect(422);
    client.post(path, "{\"script\": \"" + "x".repeat((1 << 20) + 1) + "\"}").expect(413);
    client.post("/v1/agents/agent_x/execute-draft", "{\"script\": \"\"}").expect(404);
    String key =
        client
            .post("/v1/keys", "{\"name\": \"runs\", \"role\": \"execute\"}")
            .expect(201)
            .json()
            .path("key")
            .asText();
    client.withKey(key).post(path, "{\"script\": \"\"}").expect(403);
    JsonNode job = execute(client, agent, "def main(:\n", "1");
    assertEquals("syntax_error", job.path("reason").asText());
  }

  @Test
  @LocalOnly("requests are checked before any runtime sees them")
  void anIdempotencyKeyIsOfOneScript(Client client) {
    String agent = client.agent(SAVED);
    String path = "/v1/agents/" + agent + "/execute-draft";
    String[] key = {"Idempotency-Key", "one"};
    String first =
        client.post(path, "{\"script\": \"a = 1\"}", key).expect(201).json().path("id").asText();
    assertEquals(
        first,
        client.post(path, "{\"script\": \"a = 1\"}", key).expect(200).json().path("id").asText());
    client.post(path, "{\"script\": \"a = 2\"}", key).expect(422);
    client.post("/v1/agents/" + agent + "/execute", "{}", key).expect(422);
  }
}
