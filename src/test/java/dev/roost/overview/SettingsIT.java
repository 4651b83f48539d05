package dev.roost.overview;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class SettingsIT {
  @Test
  void whoMayWriteSeesHowRoostIsSetUp() {
    Answer answer = Api.as(Role.WRITE).get("/v1/settings");
    assertEquals(200, answer.status(), answer.text());
    List<Map<String, Object>> settings = answer.get("data");
    assertEquals("roost.runtime", settings.get(0).get("name"));
    Map<String, Object> data = find(settings, "roost.data");
    assertEquals(true, data.get("set"), "by the test");
    assertTrue(data.get("value").toString().contains("roost-test-database"), data.toString());
    Map<String, Object> lifetime = find(settings, "roost.sessions.lifetime");
    assertEquals(false, lifetime.get("set"));
    assertEquals("14d", lifetime.get("value"));
    assertEquals("14d", lifetime.get("default"));
    assertEquals("ROOST_SESSIONS_LIFETIME", lifetime.get("environment"));
  }

  @Test
  void nobodyElseDoes() {
    assertEquals(403, Api.as(Role.READ).get("/v1/settings").status());
    assertEquals(403, Api.as(Role.EXECUTE).get("/v1/settings").status());
    assertEquals(401, Api.withKey(null).get("/v1/settings").status());
  }

  private static Map<String, Object> find(List<Map<String, Object>> settings, String name) {
    return settings.stream().filter(one -> name.equals(one.get("name"))).findFirst().orElseThrow();
  }
}
