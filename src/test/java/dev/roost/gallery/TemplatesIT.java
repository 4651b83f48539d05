package dev.roost.gallery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each template is an agent that the API accepts. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class TemplatesIT {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Api api = Api.as(Role.WRITE);

  private JsonNode templates() throws IOException {
    return MAPPER.readTree(api.get("/v1/templates").text()).path("data");
  }

  @Test
  void anAgentAndAScheduleCanBeCreatedFromEachTemplate() throws IOException {
    assertTrue(templates().size() >= 12, "a dozen templates");
    for (JsonNode template : templates()) {
      String name = template.path("name").asText();
      ObjectNode agent = MAPPER.createObjectNode();
      agent.put("name", name);
      agent.set("script", template.path("script"));
      agent.set("requirements", template.path("requirements"));
      agent.set("tags", template.path("tags"));
      StringBuilder variables = new StringBuilder();
      for (JsonNode variable : template.path("variables")) {
        variables.append(variable.path("name").asText()).append("=x\n");
      }
      agent.put("env_vars", variables.toString());
      Api.Answer created = api.post("/v1/agents", agent.toString());
      assertEquals(201, created.status(), name + created.text());
      JsonNode schedule = template.path("schedule");
      if (!schedule.isNull()) {
        ObjectNode request = MAPPER.createObjectNode();
        request.put("agent_id", created.<String>get("id"));
        request.set("cron", schedule.path("cron"));
        request.set("payload", template.path("payload"));
        assertEquals(201, api.post("/v1/schedules", request.toString()).status(), name);
      }
    }
  }

  @Test
  void templatesAreFoundByName() throws IOException {
    Api reader = Api.as(Role.READ);
    for (JsonNode template : templates()) {
      Api.Answer found = reader.get("/v1/templates/" + template.path("name").asText());
      assertEquals(template, MAPPER.readTree(found.text()));
    }
    assertEquals(List.of(404), List.of(reader.get("/v1/templates/none").status()));
  }
}
