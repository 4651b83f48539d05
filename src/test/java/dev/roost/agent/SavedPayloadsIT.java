package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Payloads that are saved for an agent. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class SavedPayloadsIT {
  private Api api;
  private String payloads;

  @BeforeEach
  void createAgent() {
    api = Api.as(Role.WRITE);
    payloads = "/v1/agents/" + agent() + "/payloads";
  }

  private String agent() {
    return api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
  }

  private Answer put(String name, String payload) {
    return api.put(payloads + "/" + name, "{\"payload\": " + payload + "}");
  }

  @Test
  void aPayloadIsSavedReplacedListedAndDeleted() {
    Answer created = put("empty%20order", "{\"items\": [], \"total\": 1.10}");
    assertEquals(201, created.status(), created.text());
    assertEquals("empty order", created.get("name"));
    put("a", "null");
    Answer replaced = put("empty%20order", "{\"items\": [],  \"total\": 1e400}");
    assertEquals(200, replaced.status(), replaced.text());

    Api reader = Api.as(Role.READ);
    Answer list = reader.get(payloads);
    assertEquals(List.of("a", "empty order"), list.get("data.name"));
    assertEquals(List.of(4, 30), list.get("data.size_bytes"));
    assertEquals(Arrays.asList(null, null), list.get("data.payload"));
    Answer read = reader.get(payloads + "/empty%20order");
    assertTrue(read.text().contains("{\"items\": [],  \"total\": 1e400}"), "the exact text");
    assertNull(reader.get(payloads + "/a").get("payload"));

    assertEquals(403, reader.delete(payloads + "/a").status());
    assertEquals(403, reader.put(payloads + "/a", "{\"payload\": 1}").status());
    assertEquals(204, Api.as(Role.EXECUTE).delete(payloads + "/a").status());
    assertEquals(404, api.delete(payloads + "/a").status());
    assertEquals(404, api.get(payloads + "/a").status());
    assertEquals(List.of("empty order"), api.get(payloads).get("data.name"));
  }

  @Test
  void eachAgentHasItsOwnAndLosesThemWithItsDeletion() {
    put("mine", "1");
    String other = "/v1/agents/" + agent() + "/payloads";
    assertEquals(List.of(), api.get(other).get("data"));
    assertEquals(404, api.get(other + "/mine").status());
    assertEquals(204, api.delete(payloads.replace("/payloads", "")).status());
    assertEquals(404, api.get(payloads).status());
    assertEquals(404, api.get(payloads + "/mine").status());
    assertEquals(404, put("mine", "2").status());
  }

  @Test
  void badInputIsRejectedWithAReason() {
    for (String name : List.of("%20a", "a%20", "-a", "a%2Fb", "%F0%9F%98%80", "a".repeat(101))) {
      assertEquals(422, put(name, "1").status(), name);
      assertEquals(404, api.get(payloads + "/" + name).status(), name);
    }
    assertEquals(201, put("%C3%84rger-1_2.3", "1").status());
    assertEquals(422, api.put(payloads + "/a", "{}").status());
    assertEquals(422, put("a", "1, \"other\": 2").status());
    Answer large = put("a", "\"" + "x".repeat(SavedPayloadsResource.MOST_BYTES) + "\"");
    assertEquals(422, large.status(), large.text());
    assertTrue(large.text().contains("65,536"), large.text());
  }

  @Test
  void anAgentHasAHundredAtMost() {
    for (int i = 0; i < SavedPayloadsResource.MOST; i++) {
      assertEquals(201, put("p" + i, "1").status());
    }
    assertEquals(409, put("one-more", "1").status());
    assertEquals(200, put("p7", "2").status());
    assertEquals(204, api.delete(payloads + "/p8").status());
    assertEquals(201, put("one-more", "1").status());
  }
}
