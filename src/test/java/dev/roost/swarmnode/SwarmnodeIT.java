package dev.roost.swarmnode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Objects, pages and errors as the published clients expect them. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class SwarmnodeIT {
  private static final String API = "/compat/swarmnode/v1/";

  private Api api;
  private String store;
  private String agent;

  @BeforeEach
  void createAgent() {
    api = Api.as(Role.WRITE);
    store = api.post(API + "stores/create/", "{\"name\": \"" + name() + "\"}").get("id");
    agent = create(api).get("id");
  }

  private static String name() {
    return "n-" + UUID.randomUUID();
  }

  private Answer create(Api caller) {
    return caller.post(
        API + "agents/create/",
        """
        {"name": "%s", "script": "def main(): pass", "python_version": "3.11", "store_id": "%s",
         "requirements": "", "env_vars": "A=b"}"""
            .formatted(name(), store));
  }

  private String job() {
    return api.post(
            API + "agent-executor-jobs/create/",
            "{\"agent_id\": \"" + agent + "\", \"payload\": {\"n\": 1.10}}")
        .get("id");
  }

  private static void assertFields(Answer answer, String... names) {
    assertEquals(Set.of(names), answer.<Map<String, Object>>get("").keySet(), answer.text());
  }

  @Test
  void objectsHaveTheirFieldsAndNoOthers() {
    assertFields(
        api.get(API + "agents/" + agent + "/"),
        "id",
        "name",
        "script",
        "requirements",
        "env_vars",
        "python_version",
        "store_id",
        "created",
        "modified");
    Answer stored = api.get(API + "stores/" + store + "/");
    assertFields(stored, "id", "name", "data", "created");
    assertEquals(Map.of(), stored.get("data"));
    Answer builderJobs = api.get(API + "agent-builder-jobs/?agent_id=" + agent);
    assertFields(builderJobs, "next", "previous", "total_count", "current_page", "results");
    String builderJob = builderJobs.get("results[0].id");
    assertFields(
        api.get(API + "agent-builder-jobs/" + builderJob + "/"), "id", "agent_id", "created");
    Answer build =
        api.get(
            API
                + "builds/"
                + api.get(API + "builds/?agent_builder_job_id=" + builderJob).get("results[0].id")
                + "/");
    assertFields(build, "id", "agent_builder_job_id", "status", "logs", "created");
    assertEquals("in_progress", build.get("status"));
    String job = job();
    Answer submitted = api.get(API + "agent-executor-jobs/" + job + "/");
    assertFields(submitted, "id", "agent_id", "execution_address", "created");
    Answer executions = api.get(API + "executions/?agent_executor_job_id=" + job);
    assertFields(executions, "next", "previous", "results");
    Answer execution = api.get(API + "executions/" + executions.get("results[0].id") + "/");
    assertFields(
        execution,
        "id",
        "agent_id",
        "agent_executor_job_id",
        "agent_executor_cron_job_id",
        "status",
        "start",
        "finish",
        "logs",
        "return_value");
    assertEquals("in_progress", execution.get("status"));
    assertEquals(job, execution.get("agent_executor_job_id"));
    assertNull(execution.get("finish"));
    Answer cronJob = createCronJob("* * * * *");
    assertFields(
        cronJob,
        "id",
        "agent_id",
        "name",
        "status",
        "expression",
        "execution_stream_address",
        "created",
        "modified");
    assertEquals("running", cronJob.get("status"));
  }

  private Answer createCronJob(String expression) {
    return api.post(
        API + "agent-executor-cron-jobs/create/",
        "{\"agent_id\": \"%s\", \"name\": \"%s\", \"expression\": \"%s\"}"
            .formatted(agent, name(), expression));
  }

  @Test
  void statusesAreThoseOfTheContract() {
    Answer created = create(api);
    assertEquals(201, created.status());
    String other = created.get("id");
    assertEquals(204, api.delete(API + "agents/" + other + "/delete/").status());
    assertEquals(
        200, api.patch(API + "agents/" + agent + "/update/", "{\"env_vars\": \"C=d\"}").status());
    assertEquals("C=d", api.get(API + "agents/" + agent + "/").get("env_vars"));
    assertEquals(
        "C=********", Api.as(Role.READ).get(API + "agents/" + agent + "/").get("env_vars"));
    Answer deleted = api.delete(API + "agents/" + agent + "/delete/");
    assertEquals(204, deleted.status());
    assertEquals("", deleted.text());
    assertEquals(404, api.get(API + "agents/" + agent + "/").status());
    assertEquals(204, api.delete(API + "stores/" + store + "/delete/").status());
  }

  @Test
  void theEntriesOfAStoreAreItsData() {
    String id = CompatIds.STORE.id(store);
    api.put("/v1/datastore/" + id + "/entries/a%22b", "{\"c\": [1.10, null]}");
    api.put("/v1/datastore/" + id + "/entries/z", "true");
    Answer read = api.get(API + "stores/" + store + "/");
    assertTrue(
        read.text().contains("{\"a\\\"b\": {\"c\": [1.10, null]}, \"z\": true}"), read.text());
    Answer list = api.get(API + "stores/?page_size=1");
    assertEquals(true, list.get("results[0].data.z"), list.text());
  }

  @Test
  void anAgentWithSeveralStoresKeepsTheOthers() {
    String other = api.post(API + "stores/create/", "{\"name\": \"" + name() + "\"}").get("id");
    String third = api.post(API + "stores/create/", "{\"name\": \"" + name() + "\"}").get("id");
    String path = "/v1/agents/" + CompatIds.AGENT.id(agent);
    api.patch(
        path,
        "{\"store_ids\": [\"%s\", \"%s\"]}"
            .formatted(CompatIds.STORE.id(store), CompatIds.STORE.id(other)));
    Answer changed =
        api.patch(API + "agents/" + agent + "/update/", "{\"store_id\": \"" + third + "\"}");
    assertEquals(third, changed.get("store_id"));
    assertEquals(
        List.of(CompatIds.STORE.id(third), CompatIds.STORE.id(other)),
        api.get(path).get("store_ids"));
  }

  @ParameterizedTest
  @CsvSource({
    "GET, agents/nonsense/, , 404",
    "GET, agents/019a0000-0000-7000-8000-000000000000/, , 404",
    "GET, agents/agent_01jd4m8z6hf0r9w2x3c5v7b8na/, , 404",
    "GET, executions/?agent_id=nonsense, , 404",
    "GET, agents/?page=0, , 400",
    "GET, agents/?page=x, , 400",
    "GET, agents/?page_size=-1, , 400",
    "GET, executions/?cursor=x, , 400",
    "GET, nothing/, , 404",
    "GET, agents/x/y/z/, , 404",
    "PUT, agents/, {}, 404",
    "DELETE, agents/019a0000-0000-7000-8000-000000000000/delete/, , 404",
    "POST, agents/create/, {, 400",
    "POST, agents/create/, {}, 400",
    "POST, agents/create/, [], 400",
    "POST, stores/create/, '{\"name\": 1}', 400",
    "POST, stores/create/, '{\"name\": \"a\", \"colour\": 1}', 400",
    "POST, agent-executor-jobs/create/, '{\"agent_id\": \"nonsense\"}', 404",
    "POST, agent-executor-jobs/create/, '{\"agent_id\": 1}', 400",
    "POST, assets/confirm-storage/, '{\"asset_storage_request_id\": \"nonsense\"}', 404",
    "POST, asset-storage-requests/create/, '{\"asset_name\": \"\"}', 400",
    "GET, agents/%00/, , 404",
    "GET, agents/?page=1&page=2, , 400",
  })
  void anErrorHasOneOfThreeStatusesAndTheBodyOfTheClient(
      String method, String path, String body, int status) {
    Answer answer = api.send(method, API + path, body);
    assertEquals(status, answer.status(), answer.text());
    assertFields(answer, "message", "code", "extra");
    assertTrue(answer.header("Content-Type").startsWith("application/json"));
    Answer unknown = Api.withKey("roost_x_y").send(method, API + path, body);
    boolean isBeforeAuthentication =
        path.startsWith("nothing") || path.startsWith("agents/x/y") || method.equals("PUT");
    if (!isBeforeAuthentication && !path.contains("%00") && !path.contains("&")) {
      assertEquals(401, unknown.status(), unknown.text());
    }
    assertFields(unknown, "message", "code", "extra");
  }

  @Test
  void otherRefusalsHaveThatFormToo() {
    Answer forbidden = create(Api.as(Role.READ));
    assertEquals(401, forbidden.status());
    assertEquals("forbidden", forbidden.get("code"));
    Answer conflict = api.delete(API + "stores/" + store + "/delete/");
    assertEquals(400, conflict.status());
    assertEquals("conflict", conflict.get("code"));
    Answer large = api.post(API + "stores/create/", "{\"name\": \"" + "x".repeat(100_000) + "\"}");
    assertEquals(400, large.status());
    assertEquals("too_large", large.get("code"));
    Answer type = api.send("POST", API + "stores/create/", "{}", "Content-Type", "text/plain");
    assertEquals(400, type.status(), type.text());
    assertFields(type, "message", "code", "extra");
    Answer invalid = createCronJob("tomorrow");
    assertEquals("/expression", invalid.get("extra.errors[0].pointer"), invalid.text());
    assertEquals(400, api.get(API + "agents/", "Accept", "image/png").status());
    assertEquals(422, api.post("/v1/datastore", "{\"name\": 1}").status());
  }

  @Test
  void theOpenApiDocumentDoesNotHaveIt() {
    assertFalse(api.get("/openapi?format=json").text().contains("swarmnode"));
  }

  @Test
  void pagesLinkToEachOtherThroughProxies() {
    for (int i = 0; i < 4; i++) {
      createCronJob("0 0 1 1 *");
    }
    String path = API + "agent-executor-cron-jobs/?agent_id=" + agent + "&page_size=2";
    Answer first =
        api.get(
            path,
            "X-Forwarded-Proto",
            "https",
            "X-Forwarded-Host",
            "roost.example:8443, inner",
            "X-Forwarded-Prefix",
            "/at/");
    assertEquals(
        "https://roost.example:8443/at/compat/swarmnode/v1/agent-executor-cron-jobs/?agent_id="
            + agent
            + "&page=2&page_size=2",
        first.get("next"));
    assertNull(first.get("previous"));
    assertEquals(4, first.<Integer>get("total_count"));
    Answer second = follow(api.get(path).get("next"));
    assertEquals(2, second.<Integer>get("current_page"));
    assertNull(second.get("next"));
    assertEquals(first.<Object>get("results"), follow(second.get("previous")).get("results"));
    Answer made = api.get(path, "X-Forwarded-Proto", "ftp", "X-Forwarded-Host", "a/b");
    assertTrue(made.<String>get("next").startsWith("http://localhost:"), made.text());
  }

  private Answer follow(String url) {
    return api.get(url.replaceFirst("^http://[^/]+", ""));
  }

  @Test
  void pagesOfJobsGoForwardAndBack() {
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      jobs.add(0, job());
    }
    for (String list : List.of("agent-executor-jobs", "executions")) {
      Answer page = api.get(API + list + "/?page_size=2&agent_id=" + agent);
      assertNull(page.get("previous"));
      assertEquals(jobs.subList(0, 2), page.get("results.id"));
      page = follow(page.get("next"));
      assertEquals(jobs.subList(2, 4), page.get("results.id"));
      Answer last = follow(page.get("next"));
      assertEquals(jobs.subList(4, 5), last.get("results.id"));
      assertNull(last.get("next"));
      page = follow(last.get("previous"));
      assertEquals(jobs.subList(2, 4), page.get("results.id"));
      page = follow(page.get("previous"));
      assertEquals(jobs.subList(0, 2), page.get("results.id"));
      assertNull(page.get("previous"));
      assertEquals(jobs.subList(2, 4), follow(page.get("next")).get("results.id"));
    }
  }
}
