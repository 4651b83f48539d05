package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests that want the same at the same moment: one gets it, the others are told. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class RacesIT {
  private static final int CALLERS = 8;
  private static final int ROUNDS = 5;

  private Api api;

  @BeforeEach
  void signIn() {
    api = Api.as(Role.WRITE);
  }

  /** The statuses of requests that were sent at the same moment, in order of their size. */
  private static List<Integer> atOnce(IntFunction<Answer> request) throws Exception {
    CyclicBarrier start = new CyclicBarrier(CALLERS);
    ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
    try {
      List<Future<Answer>> answers = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        int number = i;
        answers.add(
            callers.submit(
                () -> {
                  start.await(30, TimeUnit.SECONDS);
                  return request.apply(number);
                }));
      }
      List<Integer> statuses = new ArrayList<>();
      for (Future<Answer> answer : answers) {
        statuses.add(answer.get(60, TimeUnit.SECONDS).status());
      }
      return statuses.stream().sorted().toList();
    } finally {
      callers.shutdownNow();
    }
  }

  private static List<Integer> oneOf(int success) {
    List<Integer> statuses = new ArrayList<>(List.of(success));
    for (int i = 1; i < CALLERS; i++) {
      statuses.add(409);
    }
    return statuses;
  }

  private String agent() {
    return api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
  }

  @Test
  void oneOfManyCreationsOfANameSucceeds() throws Exception {
    String agent = agent();
    for (int round = 0; round < ROUNDS; round++) {
      String name = UUID.randomUUID().toString();
      String named = "{\"name\": \"" + name + "\"";
      assertEquals(
          oneOf(201), atOnce(i -> api.post("/v1/agents", named + ", \"script\": \"x\"}")), "agent");
      // The agent's own store has the agent's name.
      String ofStore = "{\"name\": \"" + UUID.randomUUID() + "\"}";
      assertEquals(oneOf(201), atOnce(i -> api.post("/v1/datastore", ofStore)), "DataStore");
      String schedule = named + ", \"cron\": \"@daily\", \"agent_id\": \"" + agent + "\"}";
      assertEquals(oneOf(201), atOnce(i -> api.post("/v1/schedules", schedule)), "schedule");
    }
  }

  @Test
  void oneOfManyThatWantANameGetsIt() throws Exception {
    String agent = agent();
    List<String> agents = new ArrayList<>();
    List<String> stores = new ArrayList<>();
    List<String> schedules = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      agents.add("/v1/agents/" + agent());
      stores.add("/v1/datastore/" + api.post("/v1/datastore", "{}").get("id"));
      String schedule = "{\"cron\": \"@daily\", \"agent_id\": \"" + agent + "\"}";
      schedules.add("/v1/schedules/" + api.post("/v1/schedules", schedule).get("id"));
    }
    for (List<String> paths : List.of(agents, stores, schedules)) {
      for (int round = 0; round < ROUNDS; round++) {
        String body = "{\"name\": \"" + UUID.randomUUID() + "\"}";
        assertEquals(oneOf(200), atOnce(i -> api.patch(paths.get(i), body)), paths.get(0));
      }
    }
  }

  @Test
  void aStoreIsDeletedOrTakenIntoUse() throws Exception {
    String agent = agent();
    for (int round = 0; round < ROUNDS; round++) {
      String store = api.post("/v1/datastore", "{}").get("id");
      List<Integer> statuses =
          atOnce(
              i ->
                  i % 2 == 0
                      ? api.delete("/v1/datastore/" + store + (i % 4 == 0 ? "?force=true" : ""))
                      : api.patch("/v1/agents/" + agent, "{\"store_ids\": [\"" + store + "\"]}"));
      assertTrue(List.of(200, 204, 404, 409, 422).containsAll(statuses), () -> statuses.toString());
    }
  }

  @Test
  void aKeyIsDeletedOnce() throws Exception {
    String key = api.post("/v1/keys", "{\"name\": \"x\", \"role\": \"read\"}").get("id");
    List<Integer> statuses = atOnce(i -> api.delete("/v1/keys/" + key));
    assertEquals(List.of(204, 404, 404, 404, 404, 404, 404, 404), statuses);
  }

  @Test
  void oneIdempotencyKeyIsOneJob() throws Exception {
    String agent = agent();
    String path = "/v1/agents/" + agent + "/execute";
    List<Integer> statuses =
        atOnce(i -> api.post(path, "{\"payload\": {}}", "Idempotency-Key", "once"));
    assertTrue(List.of(200, 201, 202).containsAll(statuses), () -> statuses.toString());
    assertEquals(1, api.get("/v1/executor-jobs?agent_id=" + agent).<List<?>>get("data").size());
  }
}
