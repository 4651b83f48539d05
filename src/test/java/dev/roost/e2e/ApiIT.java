package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What every request is checked for, and lists. */
@EveryRuntime
@LocalOnly("requests are checked before any runtime sees them")
@ExtendWith(SharedRoost.class)
class ApiIT {
  private static final String ECHO = "def main(request):\n    return request.payload";

  @Test
  void aListIsPagedNewestFirstWithoutGapsAndCanBeFiltered(Client client) {
    String agent = client.agent(ECHO);
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      jobs.add(0, client.submit(agent, Integer.toString(i)));
    }
    jobs.forEach(client::ended);
    List<String> found = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      JsonNode page =
          client.get("/v1/executor-jobs?limit=3&agent_id=" + agent + cursor).expect(200).json();
      assertTrue(page.path("data").size() <= 3);
      found.addAll(HttpAnswer.column(page, "id"));
      JsonNode next = page.path("next_cursor");
      cursor = next.isNull() ? null : "&cursor=" + next.asText();
    }
    assertEquals(jobs, found);
    String of = "&agent_id=" + agent;
    assertEquals(7, size(client, "/v1/executor-jobs?state=succeeded" + of));
    assertEquals(0, size(client, "/v1/executor-jobs?state=failed" + of));
    assertEquals(1, size(client, "/v1/executions?executor_job_id=" + jobs.get(0)));
    assertEquals(1, size(client, "/v1/builder-jobs?state=succeeded" + of));
    String name = client.get("/v1/agents/" + agent).json().path("name").asText();
    assertEquals(1, size(client, "/v1/agents?name=" + name));
    assertEquals(1, size(client, "/v1/agents?q=" + name.substring(1)));
    assertEquals(0, size(client, "/v1/agents?name=" + name.substring(1)));
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /v1/agents?limit=0, 422",
    "GET, /v1/agents?limit=201, 422",
    "GET, /v1/nothing, 404",
    "GET, /v1/agents/agent_nothing, 404",
    "GET, /v1/executor-jobs/xjob_nothing, 404",
    "GET, /v1/executions/exec_nothing/logs, 404",
    "POST, /v1/executor-jobs/xjob_nothing/cancel, 404",
    "GET, /v1/executor-jobs/xjob_nothing?wait=61, 422",
    "GET, /v1/executor-jobs/xjob_nothing?wait=-1, 422",
  })
  void aRequestThatCannotBeServedGetsAProblem(
      String method, String path, int status, Client client) {
    HttpAnswer answer = client.send(method, path, null).expect(status);
    assertEquals("application/problem+json", answer.header("Content-Type").split(";")[0]);
    assertEquals(status, answer.json().path("status").asInt());
    assertFalse(answer.json().path("detail").asText().isBlank());
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /v1/builds",
    "POST, /v1/builder-jobs",
    "POST, /v1/executions",
    "DELETE, /v1/agents",
    "DELETE, /v1/executions/exec_1",
    "PATCH, /v1/builder-jobs/bjob_1",
    "PUT, /v1/builds/build_1"
  })
  void whatClientsMustNotChangeSaysWhichMethodsThereAre(String method, String path, Client client) {
    HttpAnswer answer = client.send(method, path, "{}").expect(405);
    assertTrue(answer.header("Allow").contains("GET"), answer.header("Allow"));
    assertEquals("method_not_allowed", answer.json().path("code").asText());
  }

  @Test
  void aRequestNeedsAKeyThatMayDoIt(Client client) {
    String agent = client.agent(ECHO, "env_vars", "SECRET=hidden");
    for (String key : new String[] {null, "nonsense", "roost_x_y"}) {
      HttpAnswer refused = client.withKey(key).get("/v1/agents").expect(401);
      assertTrue(refused.header("WWW-Authenticate").startsWith("Bearer"));
      assertEquals("unauthenticated", refused.json().path("code").asText());
    }
    Client reader = client.withKey(key(client, "read"));
    Client executor = client.withKey(key(client, "execute"));
    JsonNode seen = reader.get("/v1/agents/" + agent).expect(200).json();
    assertFalse(seen.toString().contains("hidden"), seen::toString);
    assertTrue(seen.path("env_vars").asText().startsWith("SECRET="), seen::toString);
    assertFalse(executor.get("/v1/agents").expect(200).text().contains("hidden"));
    assertTrue(client.get("/v1/agents/" + agent).text().contains("hidden"));
    assertEquals("forbidden", code(reader.post("/v1/agents/" + agent + "/execute", "{}"), 403));
    assertEquals("forbidden", code(executor.send("DELETE", "/v1/agents/" + agent, null), 403));
    assertEquals("succeeded", executor.execute(agent, "1").path("state").asText());
  }

  @Test
  void aBodyMustBeJsonAndWellFormed(Client client) {
    String agents = "/v1/agents";
    assertEquals(
        "unsupported_media_type",
        code(client.post(agents, "script=1", "Content-Type", "text/plain"), 415));
    assertEquals("not_acceptable", code(client.get(agents, "Accept", "image/png"), 406));
    HttpAnswer broken = client.post(agents, "{\"script\":\n  oops}");
    assertEquals("malformed_json", code(broken, 400));
    assertTrue(broken.json().path("detail").asText().contains("line 2"), broken.text());
    String agent = client.agent(ECHO);
    String execute = agents + "/" + agent + "/execute";
    HttpAnswer twice = client.post(execute, "{\"payload\": {\"a\": 1, \"a\": 2}}");
    assertEquals("malformed_json", code(twice, 400));
    assertTrue(twice.json().path("detail").asText().contains("a"), twice.text());
    assertEquals("malformed_json", code(client.post(execute, "{\"payload\": NaN}"), 400));
    HttpAnswer unknown = client.post(execute, "{\"pay_load\": 1}");
    assertEquals("validation_failed", code(unknown, 422));
    JsonNode error = unknown.json().path("errors").path(0);
    assertEquals("unknown_field", error.path("code").asText());
    assertEquals("/pay_load", error.path("pointer").asText());
    assertTrue(error.path("detail").asText().contains("\"payload\""), unknown.text());
  }

  @Test
  void allMistakesOfAnAgentAreReportedAtOnceWithTheirPlaces(Client client) {
    HttpAnswer answer =
        client.post(
            "/v1/agents",
            Client.settings(
                "def main(): pass",
                "requirements",
                "six==1.17.0\n\nrequests\n-r other.txt\n",
                "env_vars",
                "A=1\nROOST_X=2\n",
                "python_version",
                "2.7",
                "timeout",
                -1,
                "timeot",
                3));
    assertEquals("validation_failed", code(answer, 422));
    List<String> found = new ArrayList<>();
    for (JsonNode error : answer.json().path("errors")) {
      found.add(error.path("pointer").asText() + ":" + error.path("line").asText(""));
      assertFalse(error.path("detail").asText().isBlank());
    }
    for (String expected :
        List.of("/requirements:3", "/requirements:4", "/env_vars:2", "/timeot:")) {
      assertTrue(
          found.stream().anyMatch(one -> one.replace("null", "").equals(expected)),
          expected + " in " + found);
    }
    assertEquals(6, new HashSet<>(found).size(), found::toString);
    assertTrue(answer.text().contains("requests=="), answer.text());
  }

  @Test
  void aRequestsIdentifierIsEchoedOrMade(Client client) {
    assertEquals(
        "mine-1", client.get("/v1/agents", "X-Request-Id", "mine-1").header("X-Request-Id"));
    HttpAnswer missing = client.get("/v1/agents/agent_nothing");
    assertNotNull(missing.header("X-Request-Id"));
    assertEquals(missing.header("X-Request-Id"), missing.json().path("request_id").asText());
  }

  @Test
  void anIdempotencyKeyIdentifiesOneJob(Client client) {
    String execute = "/v1/agents/" + client.agent(ECHO) + "/execute";
    String body = "{\"payload\": {\"n\": 1.0}}";
    HttpAnswer first = client.post(execute, body, "Idempotency-Key", "once").expect(201);
    HttpAnswer again = client.post(execute, body, "Idempotency-Key", "once").expect(200);
    assertEquals(first.json().path("id"), again.json().path("id"));
    HttpAnswer other = client.post(execute, "{\"payload\": {}}", "Idempotency-Key", "once");
    assertEquals("idempotency_key_reused", code(other, 422));
    HttpAnswer elsewhere =
        client.post(
            "/v1/agents/" + client.agent(ECHO) + "/execute", body, "Idempotency-Key", "once");
    assertEquals(201, elsewhere.status());
  }

  @Test
  void theDocumentsAreServedWithoutAKey(Client client) {
    Client anyone = client.withKey(null);
    assertTrue(anyone.get("/openapi").expect(200).text().startsWith("---\nopenapi: 3.1"));
    for (HttpAnswer json :
        List.of(
            anyone.get("/openapi?format=json"),
            anyone.get("/openapi", "Accept", "application/json"))) {
      assertTrue(json.expect(200).json().path("paths").has("/v1/agents/{id}/execute"));
    }
    HttpAnswer docs = anyone.get("/docs/").expect(200);
    assertTrue(docs.header("Content-Type").startsWith("text/html"));
    HttpAnswer errors = anyone.get("/docs/errors").expect(200);
    assertTrue(errors.text().contains("id=\"idempotency_key_reused\""), errors.text());
  }

  private static String key(Client client, String role) {
    String body = HttpAnswer.write(Map.of("name", "for tests", "role", role));
    return client.post("/v1/keys", body).expect(201).json().path("key").asText();
  }

  private static String code(HttpAnswer answer, int status) {
    return answer.expect(status).json().path("code").asText();
  }

  private static int size(Client client, String path) {
    return client.get(path).expect(200).json().path("data").size();
  }
}
