package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Await;
import dev.roost.FollowerDatabase;
import dev.roost.agent.TypeHints;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.execution.Frame;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.enterprise.event.Event;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The schemas that an executor has made of the type hints of main. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
class TypeHintsIT extends RunningExecution {
  private static final String INPUT =
      "{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":\"string\"}}}";

  @Inject Event<TypeHints.Stored> stored;

  private void started(String input, String output) {
    String frame =
        """
        {"seq": 1, "type": "started", "time": "%s", "schemas": {"input": %s, "output": %s}}"""
            .formatted(Instant.now(), input, output);
    intake.take(executor, execution, List.of(Frame.parse(mapper, frame)));
  }

  private Api.Answer read() {
    return api.get("/v1/agents/" + agent);
  }

  private Api.Answer execute(String payload) {
    return api.post("/v1/agents/" + agent + "/execute", "{\"payload\": %s}".formatted(payload));
  }

  @Test
  void theyApplyWhereTheRevisionHasNone() {
    assertEquals(201, execute("1").status(), "nothing is known yet");
    started(INPUT, "{\"type\":\"integer\"}");
    assertNull(read().get("input_schema"));
    assertEquals("string", read().get("hinted_input_schema.properties.name.type"));
    assertEquals("integer", read().get("hinted_output_schema.type"));
    Api.Answer refused = execute("{}");
    assertEquals(422, refused.status(), refused.text());
    assertEquals(List.of("/payload/name"), refused.get("errors.pointer"));
    String document = api.get("/v1/agents/" + agent + "/openapi").text();
    assertTrue(document.contains("\"Payload\":" + INPUT), document);

    api.patch("/v1/agents/" + agent, "{\"input_schema\": {\"type\": \"number\"}}");
    assertEquals(201, execute("1").status(), "the given one comes first");
    assertEquals(422, execute("{\"name\": \"a\"}").status());
  }

  @Test
  void aRevisionWithTheSameCodeKeepsThem() {
    started(INPUT, "null");
    api.patch("/v1/agents/" + agent, "{\"env_vars\": \"A=1\"}");
    assertEquals(2, (int) read().get("revision"));
    assertEquals("object", read().get("hinted_input_schema.type"));
    assertNull(read().get("hinted_output_schema"));
    api.patch("/v1/agents/" + agent, "{\"script\": \"def main():\\n  return 2\"}");
    assertNull(read().get("hinted_input_schema"));
    assertEquals(
        "object", api.get("/v1/agents/" + agent + "/revisions/1").get("hinted_input_schema.type"));
  }

  @Test
  void whatNoAgentCouldBeGivenCountsAsNone() {
    started("{\"$id\": \"https://example.org/a\"}", "{\"type\": \"nothing\"}");
    assertNull(read().get("hinted_input_schema"));
    assertNull(read().get("hinted_output_schema"));
    // They are known now: another report changes nothing.
    started(INPUT, "null");
    assertNull(read().get("hinted_input_schema"));
  }

  @Test
  void anotherExecutorReportsNothing() {
    String another = executor;
    start();
    String own = executor;
    executor = another;
    Problem fenced = assertThrows(Problem.class, () -> started(INPUT, "null"));
    assertEquals(ErrorCode.FENCED, fenced.code());
    assertNull(read().get("hinted_input_schema"));
    executor = own;
    started(INPUT, "null");
    assertEquals("object", read().get("hinted_input_schema.type"));
  }

  @Test
  void aDraftReportsNothing() {
    rows.run("update execution set draft = true where id = ?", execution);
    started(INPUT, "null");
    assertNull(read().get("hinted_input_schema"));
  }

  @Test
  void otherReplicasHearOfThem() {
    assertEquals(201, execute("1").status()); // Remembers that there are none.
    rows.run(
        "update agent_revision set hinted_input_schema = '" + INPUT + "' where agent_id = ?",
        agent);
    stored.fire(new TypeHints.Stored(agent));
    Await.until("the payload is checked", () -> execute("1").status() == 422);
  }
}
