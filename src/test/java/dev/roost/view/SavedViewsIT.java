package dev.roost.view;

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
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Saved views, shared by everyone. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class SavedViewsIT {
  private Api api;

  @BeforeEach
  void signIn() {
    api = Api.as(Role.WRITE);
    for (String id : api.get("/v1/views?limit=200").<List<String>>get("data.id")) {
      assertEquals(204, api.delete("/v1/views/" + id).status());
    }
  }

  private Answer save(String list, String name) {
    return api.post(
        "/v1/views",
        """
        {"list": "%s", "name": "%s", "filter": "state:failed tag:billing", "sort": "-duration",
         "columns": ["state", "agent"]}"""
            .formatted(list, name));
  }

  @Test
  void aViewIsSavedListedRenamedAndDeleted() {
    Answer created = save("executions", "Failures of billing");
    assertEquals(201, created.status(), created.text());
    String id = created.get("id");
    assertEquals("/v1/views/" + id, created.header("Location").replaceFirst("^.*(?=/v1)", ""));
    save("agents", "Failures of billing");
    Api reader = Api.as(Role.READ);
    assertEquals(List.of(id), reader.get("/v1/views?list=executions").get("data.id"));
    assertEquals(2, reader.get("/v1/views").<List<String>>get("data.id").size());

    Answer renamed = api.patch("/v1/views/" + id, "{\"name\": \" Billing \", \"columns\": null}");
    assertEquals("Billing", renamed.get("name"));
    assertNull(renamed.get("columns"));
    assertEquals("-duration", renamed.get("sort"));
    assertEquals("state:failed tag:billing", reader.get("/v1/views/" + id).get("filter"));

    assertEquals(403, reader.delete("/v1/views/" + id).status());
    assertEquals(204, api.delete("/v1/views/" + id).status());
    assertEquals(404, api.get("/v1/views/" + id).status());
    assertEquals(404, api.patch("/v1/views/" + id, "{}").status());
    assertEquals(404, api.delete("/v1/views/" + id).status());
  }

  @Test
  void namesAreUniqueInAList() {
    save("agents", "a");
    String other = save("agents", "b").get("id");
    assertEquals(409, save("agents", "a").status());
    assertEquals(201, save("executions", "a").status());
    assertEquals(409, api.patch("/v1/views/" + other, "{\"name\": \"a\"}").status());
    assertEquals(200, api.patch("/v1/views/" + other, "{\"name\": \"b\"}").status());
    assertEquals(422, api.patch("/v1/views/" + other, "{\"list\": \"executions\"}").status());
  }

  @Test
  void aListHasAHundredViewsAtMostInPages() {
    for (int i = 0; i < 100; i++) {
      assertEquals(201, save("agents", "view " + i).status());
    }
    Answer full = save("agents", "one more");
    assertEquals(409, full.status());
    assertTrue(full.<String>get("detail").contains("100"), full.text());
    Answer page = api.get("/v1/views?list=agents&limit=60");
    Answer rest = api.get("/v1/views?list=agents&limit=60&cursor=" + page.get("next_cursor"));
    assertEquals(40, rest.<List<String>>get("data.id").size());
    assertNull(rest.get("next_cursor"));
  }

  @Test
  void invalidViewsAreRefused() {
    for (String body :
        List.of(
            "{}",
            "{\"list\": \"agents\"}",
            "{\"list\": \"builds\", \"name\": \"a\"}",
            "{\"list\": \"agents\", \"name\": \"  \"}",
            "{\"list\": \"agents\", \"name\": \"" + "x".repeat(101) + "\"}",
            "{\"list\": \"agents\", \"name\": \"a\", \"filter\": \"" + "x".repeat(1001) + "\"}",
            "{\"list\": \"agents\", \"name\": \"a\", \"sort\": \"a; drop table\"}",
            "{\"list\": \"agents\", \"name\": \"a\", \"columns\": [\"A B\"]}",
            "{\"list\": \"agents\", \"name\": \"a\", \"colour\": \"red\"}")) {
      assertEquals(422, api.post("/v1/views", body).status(), body);
    }
    assertEquals(422, api.get("/v1/views?list=builds").status());
    assertFalse(api.get("/v1/views").text().contains("drop"));
  }
}
