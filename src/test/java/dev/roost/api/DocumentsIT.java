package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import dev.roost.builds.BuildReason;
import dev.roost.execution.ExecutionReason;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What is served for people and programs that want to know the interface. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class DocumentsIT {
  private final Api nobody = Api.withKey(null);

  @Test
  void theDocumentComesAsYamlAndAsJson() {
    assertTrue(nobody.get("/openapi").text().contains("openapi: 3.1"));
    assertTrue(nobody.get("/openapi?format=json").text().startsWith("{"));
    assertTrue(nobody.get("/openapi", "Accept", "application/json").text().startsWith("{"));
  }

  @Test
  void everyOperationIsPublicDescribedAndHasTheCommonErrors() throws IOException {
    JsonNode document = document();
    document.get("paths").fields().forEachRemaining(path -> check(path.getKey(), path.getValue()));
    assertEquals("bearer", document.at("/components/securitySchemes/key/scheme").asText());
    assertNotNull(document.at("/security/0/key"));
  }

  private static void check(String path, JsonNode item) {
    assertTrue(path.startsWith("/v1/"), path);
    item.fields()
        .forEachRemaining(
            entry -> {
              JsonNode operation = entry.getValue();
              String name = entry.getKey() + " " + path;
              for (String field : List.of("summary", "operationId", "tags")) {
                assertTrue(operation.hasNonNull(field), name + " has no " + field);
              }
              Matcher parameters = Pattern.compile("\\{([^}]+)}").matcher(path);
              while (parameters.find()) {
                List<String> names = operation.get("parameters").findValuesAsText("name");
                assertTrue(names.contains(parameters.group(1)), name + ": " + names);
              }
              operation
                  .get("responses")
                  .fields()
                  .forEachRemaining(response -> checkAnswer(name, response));
              for (String status : List.of("401", "403", "429", "500", "503")) {
                assertTrue(operation.get("responses").has(status), name + " lacks " + status);
              }
            });
  }

  private static void checkAnswer(String operation, Map.Entry<String, JsonNode> response) {
    JsonNode content = response.getValue().get("content");
    if (response.getKey().startsWith("2") && content != null) {
      assertFalse(content.isEmpty(), operation + " says nothing of " + response.getKey());
    }
  }

  /** What validators and generators of clients insist on. */
  @Test
  void theDocumentIsCompleteForStrictReaders() throws IOException {
    JsonNode document = document();
    assertEquals("/", document.at("/servers/0/url").asText());
    Set<String> described = new HashSet<>();
    for (JsonNode tag : document.get("tags")) {
      assertTrue(tag.hasNonNull("description"), tag.toString());
      described.add(tag.get("name").asText());
    }
    List<String> names = new ArrayList<>();
    for (JsonNode operation : document.at("/paths").findParents("operationId")) {
      names.add(operation.get("operationId").asText());
      operation
          .get("tags")
          .forEach(tag -> assertTrue(described.contains(tag.asText()), names::toString));
      for (JsonNode response : operation.get("responses")) {
        assertTrue(response.has("$ref") || response.hasNonNull("description"), operation::toString);
      }
    }
    assertEquals(names.size(), Set.copyOf(names).size(), names.toString());
  }

  @Test
  void everyReasonIsInTheDocument() throws IOException {
    JsonNode schemas = document().at("/components/schemas");
    int executions = ExecutionReason.values().length;
    assertReasons(executions, schemas.at("/Execution/properties/reason"));
    assertReasons(executions, schemas.at("/ExecutorJob/properties/reason"));
    assertReasons(BuildReason.values().length, schemas.at("/BuilderJob/properties/reason"));
  }

  /** All of them, and null for what has not failed. */
  private static void assertReasons(int count, JsonNode property) {
    assertEquals(count, property.at("/anyOf/0/enum").size());
    assertEquals("null", property.at("/anyOf/1/type").asText());
  }

  @Test
  void everyErrorIsInTheDocument() throws IOException {
    JsonNode document = document();
    for (ErrorCode code : ErrorCode.values()) {
      JsonNode response = document.at("/components/responses/" + code.code());
      JsonNode example = response.at("/content/application~1problem+json/example");
      assertEquals(code.code(), example.path("code").asText());
      assertEquals(code.status(), example.path("status").asInt());
    }
    assertEquals(
        ErrorCode.values().length,
        document.at("/components/schemas/Problem/properties/code/enum").size());
    assertNull(danglingReference(document, document));
  }

  /** What names can't say: units, what null means, what points where. */
  @Test
  void everyPropertyAndParameterIsDescribed() throws IOException {
    JsonNode document = document();
    List<String> silent = new ArrayList<>();
    document
        .at("/components/schemas")
        .fields()
        .forEachRemaining(
            schema ->
                schema
                    .getValue()
                    .path("properties")
                    .fields()
                    .forEachRemaining(
                        property -> {
                          if (!property.getValue().hasNonNull("description")) {
                            silent.add(schema.getKey() + "." + property.getKey());
                          }
                        }));
    for (JsonNode operation : document.at("/paths").findParents("operationId")) {
      for (JsonNode parameter : operation.path("parameters")) {
        if (!parameter.hasNonNull("description")) {
          silent.add(operation.get("operationId").asText() + " " + parameter.get("name").asText());
        }
      }
    }
    assertEquals(List.of(), silent);
  }

  @Test
  void schemasAreAsTheAnswersAre() throws IOException {
    JsonNode schemas = document().at("/components/schemas");
    assertTrue(schemas.at("/DataStore/properties").has("size_bytes"));
    assertTrue(schemas.at("/Runtime/properties").has("default"));
    assertFalse(schemas.get("JsonText").has("type"));
    assertTrue(schemas.at("/Entry/properties/expires_at").toString().contains("null"));
    assertTrue(schemas.at("/EntryPage/properties/next_cursor").toString().contains("null"));
    assertTrue(schemas.at("/Agent/required").toString().contains("\"keep_warm\""));
    assertFalse(schemas.at("/Agent/required").toString().contains("\"activity\""));
    assertEquals("date-time", schemas.at("/Instant/format").asText());
    assertEquals("[\"read\",\"execute\",\"write\"]", schemas.at("/Role/enum").toString());
  }

  @Test
  void thePageOfErrorsHasEveryCode() {
    Answer page = nobody.get("/docs/errors");
    assertEquals(200, page.status());
    assertTrue(page.header("Content-Type").startsWith("text/html"));
    for (ErrorCode code : ErrorCode.values()) {
      assertTrue(page.text().contains("<article id=\"" + code.code() + "\">"), code.code());
      assertFalse(code.advice().isBlank());
    }
    String type = nobody.get("/v1/keys").get("type");
    assertEquals("/docs/errors#unauthenticated", type);
  }

  @Test
  void theBrowsablePageNeedsNothingFromElsewhere() {
    Answer page = nobody.get("/docs/");
    assertEquals(200, page.status());
    Matcher resources = Pattern.compile("(?:src|href)=\"([^\"]+)\"").matcher(page.text());
    while (resources.find()) {
      String resource = resources.group(1);
      assertFalse(resource.contains("//"), resource);
      assertEquals(200, nobody.get("/docs/" + resource).status(), resource);
    }
    assertTrue(page.text().contains("/openapi"));
  }

  @Test
  void theRuntimeIsDescribed() {
    Answer answer = Api.as(Role.READ).get("/v1/runtime");
    assertEquals("3.13", answer.get("default"));
    assertEquals(List.of("3.11", "3.13"), answer.get("python_versions"));
    assertEquals(1_048_576, (int) answer.get("limits.store_value_bytes"));
  }

  @Test
  void whatIsNotThereIsAProblem() {
    Api api = Api.as(Role.READ);
    Answer absent = api.get("/v1/nothing", "X-Request-Id", "mine");
    assertEquals(404, absent.status());
    assertEquals("mine", absent.get("request_id"));
    assertEquals("mine", absent.header("X-Request-Id"));
    assertEquals("application/problem+json", absent.header("Content-Type"));
    Answer method = api.put("/v1/datastore", "{}");
    assertEquals(405, method.status());
    assertEquals("GET, HEAD, OPTIONS, POST", method.header("Allow"));
    assertEquals(
        "DELETE, GET, HEAD, OPTIONS, PATCH", api.post("/v1/datastore/x", "{}").header("Allow"));
    assertEquals(200, api.send("HEAD", "/v1/datastore", null).status());
    assertEquals(200, api.send("OPTIONS", "/v1/datastore", null).status());
    assertEquals(
        "DELETE, GET, HEAD, OPTIONS, PUT",
        api.post("/v1/datastore/x/entries/a/b", "{}").header("Allow"));
    assertEquals(406, api.get("/v1/runtime", "Accept", "text/csv").status());
  }

  private JsonNode document() throws IOException {
    return new ObjectMapper().readTree(nobody.get("/openapi?format=json").text());
  }

  private static String danglingReference(JsonNode node, JsonNode document) {
    if (node.has("$ref") && document.at(node.get("$ref").asText().substring(1)).isMissingNode()) {
      return node.get("$ref").asText();
    }
    for (JsonNode child : node) {
      String dangling = danglingReference(child, document);
      if (dangling != null) {
        return dangling;
      }
    }
    return null;
  }
}
