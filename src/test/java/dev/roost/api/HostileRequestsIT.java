package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.TestDatabase;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad values wherever a request has a place for one: each is answered, and none by a 500. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class HostileRequestsIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** As they stand in a URL. */
  private static final List<String> ENCODED =
      List.of(
          "%00",
          "a%00b",
          "%FF",
          "%ED%A0%80",
          "%E2%80%A8",
          "%20",
          "-1",
          "0",
          "99999999999999999999",
          "1e999",
          "-999999999-01-01T00:00:00Z",
          "%2B999999999-12-31T23:59:59-18:00",
          "%27%22%5C%25",
          "x".repeat(3_000));

  private static final List<String> OF_HEADERS =
      List.of(
          ",",
          "\"",
          "W/\"",
          "*",
          "-1",
          "1d",
          "1e999",
          "NaN",
          "PT1H",
          "a/b;c=",
          "\u00ff",
          "x".repeat(3_000));

  private static final List<String> OF_BODIES =
      List.of(
          "\"\\u0000\"",
          "\"\\ud800\"",
          "[\"\\u0000\"]",
          "[\"\\udc00\"]",
          "[null]",
          "{}",
          "-1",
          "1e999",
          "1" + "0".repeat(400),
          "\"-999999999-01-01T00:00:00Z\"",
          "\"" + "( ".repeat(2_000) + "\"",
          "[".repeat(400) + "]".repeat(400));

  private static final Set<String> METHODS = Set.of("get", "post", "put", "patch", "delete");

  private static final int EVERY = 3;

  private Api api;
  private Map<String, String> known;
  private int places;

  /** One operation of the OpenAPI document. */
  private record Operation(String method, String path, JsonNode description) {
    List<String> parameters(String in) {
      List<String> names = new ArrayList<>();
      for (JsonNode parameter : description.path("parameters")) {
        if (parameter.path("in").asText().equals(in)) {
          names.add(parameter.path("name").asText());
        }
      }
      return names;
    }

    String body() {
      return description.has("requestBody") ? "{}" : null;
    }
  }

  @BeforeEach
  void makeOneOfEach() {
    api = Api.as(Role.WRITE);
    String agent = api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
    String ofAgent = "\"agent_id\": \"" + agent + "\"";
    String schedule =
        api.post("/v1/schedules", "{\"cron\": \"@yearly\", " + ofAgent + "}").get("id");
    String job = api.post("/v1/agents/" + agent + "/execute", "{}").get("id");
    known =
        Map.of(
            "/v1/agents/", agent,
            "/v1/datastore/", api.post("/v1/datastore", "{}").get("id"),
            "/v1/schedules/", schedule,
            "/v1/executor-jobs/", job);
  }

  private List<Operation> operations() throws IOException {
    List<Operation> operations = new ArrayList<>();
    JsonNode paths = JSON.readTree(api.get("/openapi?format=json").text()).get("paths");
    paths
        .fields()
        .forEachRemaining(
            path ->
                path.getValue()
                    .fields()
                    .forEachRemaining(
                        entry -> {
                          if (METHODS.contains(entry.getKey())) {
                            String method = entry.getKey().toUpperCase(java.util.Locale.ROOT);
                            operations.add(new Operation(method, path.getKey(), entry.getValue()));
                          }
                        }));
    assertTrue(operations.size() > 40, () -> operations.size() + " operations");
    return operations;
  }

  /**
   * Every third value, from another one on at each place: a parameter that many operations have
   * gets them all, and the test takes a third of the time.
   */
  private List<String> some(List<String> values) {
    int first = places++ % EVERY;
    return IntStream.iterate(first, i -> i < values.size(), i -> i + EVERY)
        .mapToObj(values::get)
        .toList();
  }

  /** The path with what is there, where there is one of its kind; nothing is deleted. */
  private String filled(Operation operation) {
    String path = operation.path();
    for (Map.Entry<String, String> one : known.entrySet()) {
      if (path.startsWith(one.getKey()) && !operation.method().equals("DELETE")) {
        path = path.replace("{id}", one.getValue());
      }
    }
    return path.replaceAll("\\{[^}]+}", "1");
  }

  private void check(Operation operation, String path, String body, String... headers) {
    Answer answer = api.send(operation.method(), path, body, headers);
    assertTrue(
        answer.status() < 500,
        () -> operation.method() + " " + path + " " + body + ": " + answer.text());
  }

  @Test
  void noQueryParameterOfAnyOperationIsAFault() throws IOException {
    for (Operation operation : operations()) {
      for (String name : operation.parameters("query")) {
        for (String value : some(ENCODED)) {
          check(operation, filled(operation) + "?" + name + "=" + value, operation.body());
        }
      }
    }
  }

  @Test
  void aQueryParameterThatIsThereTwiceIsRefused() throws IOException {
    for (Operation operation : operations()) {
      for (String name : operation.parameters("query")) {
        String path = filled(operation) + "?" + name + "=&" + name + "=1";
        Answer answer = api.send(operation.method(), path, operation.body());
        assertEquals(422, answer.status(), operation.method() + " " + path);
        assertEquals("?" + name, answer.get("errors[0].pointer"), answer.text());
        assertEquals("repeated", answer.get("errors[0].code"), answer.text());
      }
    }
  }

  @Test
  void noPathOfAnyOperationIsAFault() throws IOException {
    for (Operation operation : operations()) {
      for (String name : operation.parameters("path")) {
        for (String value : some(ENCODED)) {
          String path = operation.path().replace("{" + name + "}", value);
          check(operation, path.replaceAll("\\{[^}]+}", "1"), operation.body());
        }
      }
    }
  }

  @Test
  void noHeaderOfAnyOperationIsAFault() throws IOException {
    for (Operation operation : operations()) {
      List<String> names = new ArrayList<>(operation.parameters("header"));
      names.addAll(List.of("Accept", "Content-Type"));
      for (String name : names) {
        for (String value : some(OF_HEADERS)) {
          if (!operation.path().equals("/v1/events")) {
            check(operation, filled(operation), operation.body(), name, value);
          }
        }
      }
    }
  }

  @Test
  void noMemberOfAnyBodyIsAFault() throws IOException {
    JsonNode schemas =
        JSON.readTree(api.get("/openapi?format=json").text()).at("/components/schemas");
    for (Operation operation : operations()) {
      for (JsonNode media : operation.description().at("/requestBody/content")) {
        String reference = media.at("/schema/$ref").asText();
        JsonNode schema = schemas.path(reference.substring(reference.lastIndexOf('/') + 1));
        schema
            .path("properties")
            .fieldNames()
            .forEachRemaining(
                member -> {
                  for (String value : some(OF_BODIES)) {
                    check(operation, filled(operation), "{\"" + member + "\": " + value + "}");
                  }
                });
      }
    }
  }

  @Test
  void optionsListWhatIsAccepted() throws IOException {
    Map<String, Set<String>> byPath = new TreeMap<>();
    for (Operation operation : operations()) {
      byPath.put(operation.path().replaceAll("\\{[^}]+}", "1"), new TreeSet<>());
    }
    // "/v1/executor-jobs/cancel" is also an "/v1/executor-jobs/{id}" without a job.
    for (Operation operation : operations()) {
      String expression = operation.path().replaceAll("\\{[^}]+}", "[^/]+");
      byPath.forEach(
          (path, methods) -> {
            if (path.matches(expression)) {
              methods.addAll(List.of(operation.method(), "OPTIONS"));
              if (operation.method().equals("GET")) {
                methods.add("HEAD");
              }
            }
          });
    }
    byPath.forEach(
        (path, methods) -> {
          String listed = String.join(", ", methods);
          Answer options = api.send("OPTIONS", path, null);
          assertEquals(200, options.status(), path);
          assertEquals(listed, options.header("Allow"), path);
          for (String method : List.of("GET", "POST", "PUT", "PATCH", "DELETE", "PURGE")) {
            if (!methods.contains(method)) {
              Answer refused = api.send(method, path, method.equals("GET") ? null : "{}");
              assertEquals(405, refused.status(), method + " " + path);
              assertEquals(listed, refused.header("Allow"), method + " " + path);
            }
          }
        });
  }

  @Test
  void aCursorOfAnotherListIsRefused() throws IOException {
    List<String> cursors =
        List.of("agent_0", "xjob_0", "log_1", "revision_1", "delivery_1", "entry_YQ", "x", "%7E");
    for (Operation operation : operations()) {
      if (operation.parameters("query").contains("cursor")) {
        List<Integer> statuses = new ArrayList<>();
        String query = operation.path().equals("/v1/search") ? "?q=word&cursor=" : "?cursor=";
        for (String cursor : cursors) {
          Answer answer = api.get(filled(operation) + query + cursor);
          statuses.add(answer.status());
          if (answer.status() == 422) {
            assertEquals("invalid_cursor", answer.get("errors[0].code"), answer.text());
          }
        }
        long accepted = statuses.stream().filter(status -> status == 200).count();
        assertTrue(accepted <= 1, () -> operation.path() + ": " + statuses);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/agents?name=a%00b, 422",
    "/v1/agents?cursor=%00, 422",
    "/v1/agents?unknown%00=1, 422",
    "/v1/datastore/store_1/entries?prefix=a%00b, 404",
    "/v1/agents/agent_%00, 404",
    "/v1/agents/agent_1%00/revisions, 404",
    "/v1/agents;x, 404",
    "/v1/agents;x=1/agent_1, 404",
    "/v1;x/agents, 404",
    "/v1/executions?started_after=-999999999-01-01T00:00:00Z, 422",
    "/v1/executions?started_before=%2B999999999-01-01T00:00:00Z, 422",
    "/v1/executions?started_after=2026-11-21T18:12:41Z, 200"
  })
  void whatCantBeMeantIsRefused(String path, int status) {
    assertEquals(status, api.get(path).status(), path);
  }

  @Test
  void aNulInAListOfStringsNamesItsPlace() {
    Answer answer =
        api.post("/v1/agents", "{\"script\": \"x\", \"store_ids\": [\"a\", \"\\u0000\"]}");
    assertEquals(422, answer.status());
    assertEquals("/store_ids/1", answer.get("errors[0].pointer"));
    assertEquals("invalid_text", answer.get("errors[0].code"));
  }

  /** A key of an entry may hold nearly everything, so a semicolon is a part of it. */
  @Test
  void aKeyMayHoldASemicolon() {
    String path = "/v1/datastore/" + known.get("/v1/datastore/") + "/entries/a;b=1/c;d";
    assertEquals(201, api.put(path, "1").status());
    assertEquals("1", api.get(path).text());
    assertEquals(404, api.get(path.replace(";", "%3B") + ";").status());
    assertEquals("1", api.get(path.replace(";", "%3B")).text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/agents?name=%zz",
        "/v1/agents?name=%",
        "/v1/agents?%",
        "/v1/agents/%zz",
        "/v1/agents/%",
        "/v1/agents/%2",
        "/v1/agents/\u0001",
        "/v1/agents?name=\u0001",
        "/v1/datastore/x/entries/%zz",
        "/v1/datastore/%zz/entries/x",
        "/v1/../v1/agents/%c0%80",
        "//",
        "*"
      })
  void whatIsNoUrlIsAnswered(String path) throws IOException {
    String status = statusOf(path);
    assertTrue(status.matches("HTTP/1\\.1 [234]\\d\\d.*"), path + ": " + status);
  }

  /** The path goes over the wire as it stands here. */
  private String statusOf(String path) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), RestAssured.port)) {
      String request =
          "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n"
              .formatted(path, api.key());
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      String answer =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      return answer.lines().findFirst().orElse("no answer");
    }
  }
}
