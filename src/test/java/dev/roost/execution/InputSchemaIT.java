package dev.roost.execution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Payloads are held against the schema of the revision that is to run. Nothing runs here. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class InputSchemaIT {
  private static final String NAMES =
      """
      {"type": "object", "required": ["name"], "additionalProperties": false,
       "properties": {"name": {"type": "string"}, "size": {"$ref": "#/$defs/size"}},
       "$defs": {"size": {"type": "number", "maximum": 1.10}}}""";

  private static final String NUMBERS = "{\"type\": \"number\"}";

  @Inject EntityManager entities;

  private Api api;
  private String agent;

  @BeforeEach
  void makeAgent() {
    api = Api.as(Role.WRITE);
    agent = create(NAMES).get("id");
  }

  private Answer create(String inputSchema) {
    return api.post(
        "/v1/agents",
        "{\"script\": \"def main():\\n  return 1\", \"input_schema\": %s, \"output_schema\": {\"type\": \"integer\"}}"
            .formatted(inputSchema));
  }

  private Answer change(String fields) {
    return api.patch("/v1/agents/" + agent, fields);
  }

  private Answer execute(String payload, String... headers) {
    return api.post("/v1/agents/" + agent + "/execute", "{\"payload\": " + payload + "}", headers);
  }

  private int jobs() {
    return api.get("/v1/executor-jobs?agent_id=" + agent).<List<Object>>get("data").size();
  }

  private static void assertRefused(Answer answer, String... pointers) {
    assertEquals(422, answer.status(), answer.text());
    assertEquals("validation_failed", answer.get("code"));
    assertEquals(List.of(pointers), answer.get("errors.pointer"));
  }

  @Test
  void schemasBelongToARevision() {
    String path = "/v1/agents/" + agent;
    // As it was written, 1.10 included.
    assertTrue(api.get(path).text().contains("\"input_schema\":" + NAMES + ","));
    assertEquals("integer", api.get(path).get("output_schema.type"));
    assertEquals(2, (int) change("{\"input_schema\": " + NUMBERS + "}").get("revision"));
    assertEquals(2, (int) change("{\"input_schema\": " + NUMBERS + "}").get("revision"));
    Answer without = change("{\"input_schema\": null}");
    assertEquals(3, (int) without.get("revision"));
    assertNull(without.get("input_schema"));
    assertEquals("integer", without.get("output_schema.type"));
    assertEquals("number", api.get(path + "/revisions/2").<String>get("input_schema.type"));
    Answer back = api.post(path + "/roll-back", "{\"revision\": 1}");
    assertEquals("object", back.get("input_schema.type"), back.text());
  }

  @Test
  void badSchemasAreRefusedWithPointers() {
    assertRefused(create("[]"), "/input_schema");
    assertRefused(create("{\"minLength\": -1}"), "/input_schema/minLength");
    assertRefused(create("{\"pattern\": \"(?!a)\"}"), "/input_schema/pattern");
    assertRefused(create("{\"description\": \"" + "x".repeat(65_536) + "\"}"), "/input_schema");
    assertRefused(change("{\"output_schema\": {\"items\": 1}}"), "/output_schema/items");
  }

  @Test
  void aPayloadThatDoesNotMatchIsRefusedWhereverItIsSubmitted() {
    assertRefused(execute("{\"name\": 1, \"nam\": 2}"), "/payload/name", "/payload/nam");
    assertRefused(execute("{\"name\": \"Ada\", \"size\": 1.11}"), "/payload/size");
    assertRefused(api.post("/v1/agents/" + agent + "/execute", "{}"), "/payload");
    assertRefused(
        api.post(
            "/v1/agents/" + agent + "/execute-batch",
            "{\"payloads\": [{\"name\": \"Ada\"}, {}, {\"name\": null}]}"),
        "/payloads/1/name",
        "/payloads/2/name");
    assertRefused(
        api.post(
            "/v1/schedules",
            "{\"agent_id\": \"%s\", \"cron\": \"0 0 1 1 *\", \"payload\": 1}".formatted(agent)),
        "/payload");
    assertEquals(0, jobs());
    assertEquals(201, execute("{\"name\": \"Ada\", \"size\": 1.10}").status());
    assertEquals(
        201,
        api.post(
                "/v1/agents/" + agent + "/execute-batch",
                "{\"payloads\": [{\"name\": \"Ada\"}, {\"name\": \"Bo\"}]}")
            .status());
    assertEquals(3, jobs());
  }

  @Test
  void aScheduleIsCheckedWhenItsPayloadIsGivenAndWhenItIsTriggered() {
    String schedule =
        api.post(
                "/v1/schedules",
                "{\"agent_id\": \"%s\", \"cron\": \"0 0 1 1 *\", \"payload\": {\"name\": \"Ada\"}}"
                    .formatted(agent))
            .get("id");
    assertRefused(api.patch("/v1/schedules/" + schedule, "{\"payload\": {}}"), "/payload/name");
    change("{\"input_schema\": " + NUMBERS + "}");
    assertEquals(200, api.patch("/v1/schedules/" + schedule, "{\"name\": \"x\"}").status());
    assertRefused(api.post("/v1/schedules/" + schedule + "/trigger", ""), "/payload");
    assertEquals(200, api.patch("/v1/schedules/" + schedule, "{\"payload\": 1}").status());
    assertEquals(201, api.post("/v1/schedules/" + schedule + "/trigger", "").status());
  }

  /** Its script is another one than that of the schema. */
  @Test
  void aDraftTakesAnyPayload() {
    Answer answer =
        api.post(
            "/v1/agents/" + agent + "/execute-draft",
            "{\"script\": \"def main(request):\\n  return 1\", \"payload\": 1}");
    assertEquals(201, answer.status(), answer.text());
  }

  @Test
  void theSchemaOfANewRevisionAppliesAtOnceAlsoIfAnotherReplicaHasSavedIt() {
    assertRefused(execute("1"), "/payload");
    change("{\"input_schema\": " + NUMBERS + "}");
    assertEquals(201, execute("1").status());
    assertRefused(execute("{\"name\": \"Ada\"}"), "/payload");
    elsewhere("{\"type\": \"boolean\"}");
    assertRefused(execute("1"), "/payload");
    Answer job = execute("true");
    assertEquals(201, job.status(), job.text());
    assertEquals(3, (int) job.get("agent_revision"));
    elsewhere(NUMBERS);
    assertEquals(
        201, api.post("/v1/agents/" + agent + "/execute-batch", "{\"payloads\": [1, 2]}").status());
    elsewhere(null);
    assertEquals(201, execute("{}").status());
  }

  private void elsewhere(String inputSchema) {
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              entities
                  .createNativeQuery(
                      """
                      insert into agent_revision (agent_id, revision, script, requirements, env_vars, python_version,
                        egress, preload, builder_job_id, created_at, input_schema)
                      select agent_id, revision + 1, script, requirements, env_vars, python_version, egress, preload,
                        builder_job_id, created_at, cast(:schema as text)
                      from agent_revision where agent_id = :agent order by revision desc limit 1""")
                  .setParameter("schema", inputSchema)
                  .setParameter("agent", agent)
                  .executeUpdate();
              entities
                  .createNativeQuery("update agent set revision = revision + 1 where id = :agent")
                  .setParameter("agent", agent)
                  .executeUpdate();
            });
  }

  @Test
  void aRepeatedRequestGetsItsJobAlsoIfTheSchemaHasChanged() {
    String job = execute("{\"name\": \"Ada\"}", "Idempotency-Key", "k1").get("id");
    change("{\"input_schema\": " + NUMBERS + "}");
    Answer again = execute("{\"name\": \"Ada\"}", "Idempotency-Key", "k1");
    assertEquals(200, again.status(), again.text());
    assertEquals(job, again.get("id"));
    assertRefused(execute("{\"name\": \"Ada\"}", "Idempotency-Key", "k2"), "/payload");
  }

  @Test
  void anAgentThatIsGoneIsNotFound() {
    execute("{\"name\": \"Ada\"}");
    assertEquals(204, api.delete("/v1/agents/" + agent).status());
    assertEquals(404, execute("{\"name\": \"Ada\"}").status());
    assertEquals(404, execute("1").status());
  }

  @Test
  void theAgentHasAnOpenApiDocumentOfItsOwn() {
    Answer document = api.get("/v1/agents/" + agent + "/openapi");
    assertEquals(200, document.status(), document.text());
    assertEquals("3.1.0", document.get("openapi"));
    String payload = "components.schemas.Payload";
    assertEquals(List.of("name"), document.get(payload + ".required"));
    assertTrue(
        document.text().contains("\"$ref\":\"#/components/schemas/Payload/$defs/size\""),
        document.text());
    assertTrue(document.text().contains("\"maximum\":1.10"), document.text());
    assertEquals("integer", document.get("components.schemas.ReturnValue.type"));
    assertTrue(document.text().contains("\"/v1/agents/" + agent + "/execute\""));
    assertEquals(404, api.get("/v1/agents/nobody/openapi").status());
  }
}
