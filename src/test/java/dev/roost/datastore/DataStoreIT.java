package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import dev.roost.api.ErrorCode;
import dev.roost.api.Ids;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import io.quarkus.hibernate.orm.panache.Panache;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class DataStoreIT {
  private Api api;

  @BeforeEach
  void signIn() {
    api = Api.as(Role.WRITE);
  }

  @Test
  void aStoreIsCreatedRetrievedRenamedAndDeleted() {
    String name = Ids.next("name");
    Answer made = api.post("/v1/datastore", "{\"name\": \"" + name + "\"}");
    assertEquals(201, made.status());
    String id = made.get("id");
    assertTrue(made.header("Location").endsWith("/v1/datastore/" + id));
    assertEquals(name, made.get("name"));
    assertEquals(0, (int) made.get("entries"));
    assertEquals(0, (int) made.get("size_bytes"));
    assertEquals(List.of(), made.get("agent_ids"));

    api.put("/v1/datastore/" + id + "/entries/key", "12345");
    Answer read = api.get("/v1/datastore/" + id);
    assertEquals(1, (int) read.get("entries"));
    assertEquals(8, (int) read.get("size_bytes"));

    Answer renamed = api.patch("/v1/datastore/" + id, "{\"name\": \"" + name + "2\"}");
    assertEquals(200, renamed.status());
    assertEquals(name + "2", renamed.get("name"));

    assertEquals(204, api.delete("/v1/datastore/" + id).status());
    assertEquals(404, api.get("/v1/datastore/" + id).status());
    assertEquals(404, api.delete("/v1/datastore/" + id).status());
    assertEquals(404, api.get("/v1/datastore/" + id + "/entries").status());
    assertEquals(404, api.get("/v1/datastore/" + id + "/entries/key").status());
    assertEquals(404, api.put("/v1/datastore/" + id + "/entries/key", "1").status());
    assertEquals(404, api.delete("/v1/datastore/" + id + "/entries/key").status());
  }

  @Test
  void aNameIsCreatedWhereNoneIsGiven() {
    for (String body : new String[] {null, "", "{}"}) {
      Answer made = api.post("/v1/datastore", body);
      assertEquals(201, made.status());
      assertTrue(made.<String>get("name").matches("[a-z]+-[a-z]+-[0-9]+"), made.text());
    }
  }

  @Test
  void aNameIsTakenOnce() {
    String name = Ids.next("name");
    String body = "{\"name\": \"" + name + "\"}";
    assertEquals(201, api.post("/v1/datastore", body).status());
    Answer second = api.post("/v1/datastore", body);
    assertEquals(409, second.status());
    assertEquals("conflict", second.get("code"));
    assertTrue(second.<String>get("detail").contains(name));
    String other = api.post("/v1/datastore", "{}").get("id");
    assertEquals(409, api.patch("/v1/datastore/" + other, body).status());
  }

  @Test
  void aBadNameIsRefused() {
    for (String name : List.of("", " ", "x".repeat(101), "a\\nb", "a\\u0000b", "\\ud800")) {
      Answer answer = api.post("/v1/datastore", "{\"name\": \"" + name + "\"}");
      assertEquals(422, answer.status(), name);
      assertEquals("/name", answer.get("errors[0].pointer"));
    }
    assertEquals(422, api.post("/v1/datastore", "{\"name\": null}").status());
    Answer unknown = api.post("/v1/datastore", "{\"nmae\": \"x\"}");
    assertEquals("unknown_field", unknown.get("errors[0].code"));
    assertEquals(400, api.post("/v1/datastore", "{\"name\": \"x\", \"name\": \"y\"}").status());
    String hundred = "🐔".repeat(100);
    assertEquals(201, api.post("/v1/datastore", "{\"name\": \"" + hundred + "\"}").status());
  }

  @Test
  void listsArePagedAndFiltered() {
    String mark = Ids.next("mark");
    List<String> made = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      String body = "{\"name\": \"" + mark + "-" + i + "\"}";
      made.add(0, api.post("/v1/datastore", body).get("id"));
    }
    List<String> seen = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      Answer page =
          api.get("/v1/datastore?limit=2&q=" + mark.toUpperCase(java.util.Locale.ROOT) + cursor);
      seen.addAll(page.<List<String>>get("data.id"));
      String next = page.get("next_cursor");
      cursor = next == null ? null : "&cursor=" + next;
    }
    assertEquals(made, seen);
    Answer named = api.get("/v1/datastore?name=" + mark + "-3");
    assertEquals(List.of(mark + "-3"), named.get("data.name"));
    for (String wrong : List.of("0", "201", "x", "1.5")) {
      Answer answer = api.get("/v1/datastore?limit=" + wrong);
      assertEquals(422, answer.status());
      assertEquals("?limit", answer.get("errors[0].pointer"));
    }
  }

  @Test
  void aStoreInUseIsDeletedByForceAlone() {
    String agentId = agent();
    String storeId = api.post("/v1/datastore", "{}").get("id");
    String otherId = api.post("/v1/datastore", "{}").get("id");
    QuarkusTransaction.requiringNew().run(() -> DataStore.use(agentId, List.of(storeId, otherId)));
    assertEquals(List.of(agentId), api.get("/v1/datastore/" + storeId).get("agent_ids"));
    Answer refused = api.delete("/v1/datastore/" + storeId);
    assertEquals(409, refused.status());
    assertTrue(refused.<String>get("detail").contains(agentId), refused.text());
    assertEquals(422, api.delete("/v1/datastore/" + storeId + "?force=yes").status());
    assertEquals(204, api.delete("/v1/datastore/" + storeId + "?force=true").status());
    Map<String, List<String>> left =
        QuarkusTransaction.requiringNew().call(() -> DataStore.idsOfAgents(List.of(agentId)));
    assertEquals(Map.of(agentId, List.of(otherId)), left);
  }

  @Test
  void aDeletedAgentHoldsNoStore() {
    String agentId = agent();
    String storeId = api.post("/v1/datastore", "{}").get("id");
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              DataStore.use(agentId, List.of(storeId));
              Panache.getSession()
                  .createNativeMutationQuery(
                      "update agent set deleted_at = now() where id = '" + agentId + "'")
                  .executeUpdate();
            });
    assertEquals(List.of(), api.get("/v1/datastore/" + storeId).get("agent_ids"));
    assertEquals(204, api.delete("/v1/datastore/" + storeId).status());
  }

  @Test
  void anAgentHasItsStoresInOrder() {
    String agentId = agent();
    String first = api.post("/v1/datastore", "{}").get("id");
    String second = api.post("/v1/datastore", "{}").get("id");
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              for (List<String> ids :
                  List.of(List.of(second, first), List.of(first, second), List.<String>of())) {
                DataStore.use(agentId, ids);
                assertEquals(
                    ids, DataStore.idsOfAgents(List.of(agentId)).getOrDefault(agentId, List.of()));
              }
              Problem problem =
                  assertThrows(
                      Problem.class,
                      () -> DataStore.use(agentId, List.of(first, "store_none", first)));
              assertEquals(ErrorCode.VALIDATION_FAILED, problem.code());
              assertEquals(
                  List.of("/store_ids/1", "/store_ids/2"),
                  problem.errors().stream().map(Problem.FieldError::pointer).toList());
            });
  }

  @Test
  void aStoreNamedAfterAnAgentGetsANumberWhereTheNameIsTaken() {
    String name = Ids.next("name");
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              Instant now = Instant.now();
              assertEquals(name, DataStore.createNamedAfter(name, now).name);
              assertEquals(name + "-2", DataStore.createNamedAfter(name, now).name);
              assertEquals(name + "-3", DataStore.createNamedAfter(name, now).name);
              String tooLong = name + "x".repeat(100);
              assertEquals(100, DataStore.createNamedAfter(tooLong, now).name.length());
              assertEquals(100, DataStore.createNamedAfter(tooLong, now).name.length());
            });
  }

  @Test
  void readersOnlyRead() {
    String id = api.post("/v1/datastore", "{}").get("id");
    Api reader = Api.as(Role.READ);
    assertEquals(200, reader.get("/v1/datastore/" + id).status());
    assertEquals(403, reader.post("/v1/datastore", "{}").status());
    assertEquals(403, reader.put("/v1/datastore/" + id + "/entries/a", "1").status());
    assertEquals(403, reader.delete("/v1/datastore/" + id + "/entries/..").status());
    assertEquals(200, reader.get("/v1/datastore/" + id).status());
    Api nobody = Api.withKey(null);
    for (String path :
        List.of(
            "/v1/datastore",
            "/%761/datastore",
            "//v1/datastore",
            "/x/../v1/datastore",
            "/v1/datastore/" + id + "/entries/..")) {
      Answer answer = nobody.get(path);
      assertEquals(401, answer.status(), path);
      assertTrue(answer.header("WWW-Authenticate").startsWith("Bearer"));
    }
    assertEquals(404, nobody.get("/v1;a/datastore").status());
  }

  /** An agent's row; its name is its identifier. */
  private static String agent() {
    String id = Ids.next("agent");
    QuarkusTransaction.requiringNew()
        .run(
            () ->
                Panache.getSession()
                    .createNativeMutationQuery(
                        """
                        insert into agent (id, name, revision, timeout_seconds, memory_mib, cpu,
                          max_concurrency, max_attempts, retry_delay_seconds, keep_warm_seconds,
                          isolation, created_at, updated_at)
                        values (:id, :id, 1, 900, 256, 0.5, 10, 1, 1, 60, 'process', now(), now())""")
                    .setParameter("id", id)
                    .executeUpdate());
    return id;
  }
}
