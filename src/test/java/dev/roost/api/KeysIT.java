package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class KeysIT {
  @Test
  void aKeyWorksUntilItIsDeleted() {
    Api api = Api.as(Role.WRITE);
    Answer made = api.post("/v1/keys", "{\"name\": \"ci\", \"role\": \"read\"}");
    assertEquals(201, made.status());
    String id = made.get("id");
    assertTrue(made.header("Location").endsWith("/v1/keys/" + id));
    Api reader = Api.withKey(made.get("key"));
    assertEquals(200, reader.get("/v1/runtime").status());

    Answer read = api.get("/v1/keys/" + id);
    assertEquals(
        Map.of("id", id, "name", "ci", "role", "read", "created_at", made.get("created_at")),
        read.get(""));
    assertNull(read.get("key"));

    assertEquals(204, api.delete("/v1/keys/" + id).status());
    assertEquals(401, reader.get("/v1/runtime").status());
    assertEquals(404, api.get("/v1/keys/" + id).status());
    assertEquals(404, api.delete("/v1/keys/" + id).status());
  }

  @Test
  void onlyAKeyThatMayWriteSeesKeys() {
    for (Role role : List.of(Role.READ, Role.EXECUTE)) {
      Api api = Api.as(role);
      assertEquals(403, api.get("/v1/keys").status());
      assertEquals(403, api.get("/v1/keys/key_1").status());
      assertEquals(403, api.post("/v1/keys", "{}").status());
      assertEquals(403, api.delete("/v1/keys/key_1").status());
    }
    assertEquals(401, Api.withKey(null).get("/v1/keys").status());
    assertEquals(401, Api.withKey("roost_x_y").get("/v1/keys").status());
    assertEquals(401, Api.withKey("nonsense").get("/v1/keys").status());
  }

  @Test
  void theLastKeyThatMayWriteStays() {
    QuarkusTransaction.requiringNew().run(() -> ApiKey.deleteAll());
    Api api = Api.as(Role.WRITE);
    Api.as(Role.READ);
    String id =
        ((ApiKey)
                QuarkusTransaction.requiringNew()
                    .call(() -> ApiKey.find("role", "write").firstResult()))
            .id;
    Answer refused = api.delete("/v1/keys/" + id);
    assertEquals(409, refused.status());
    Api second = Api.as(Role.WRITE);
    assertEquals(204, api.delete("/v1/keys/" + id).status());
    assertEquals(200, second.get("/v1/keys").status());
  }

  @Test
  void keysAreListedNewestFirst() {
    Api api = Api.as(Role.WRITE);
    String first = api.post("/v1/keys", "{\"name\": \"1\", \"role\": \"execute\"}").get("id");
    String second = api.post("/v1/keys", "{\"name\": \"2\", \"role\": \"write\"}").get("id");
    Answer page = api.get("/v1/keys?limit=1");
    assertEquals(List.of(second), page.get("data.id"));
    assertFalse(page.text().contains("roost_"));
    Answer next = api.get("/v1/keys?limit=1&cursor=" + page.get("next_cursor"));
    assertEquals(List.of(first), next.get("data.id"));
  }

  @Test
  void everyMistakeIsReported() {
    Answer answer =
        Api.as(Role.WRITE).post("/v1/keys", "{\"name\": \"\", \"role\": \"god\", \"x\": 1}");
    assertEquals(422, answer.status());
    assertEquals(List.of("/name", "/role", "/x"), answer.get("errors.pointer"));
  }
}
