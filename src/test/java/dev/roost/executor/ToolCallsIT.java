package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.FollowerDatabase;
import dev.roost.api.Body;
import dev.roost.api.Role;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.Frame;
import dev.roost.execution.StreamOperations;
import dev.roost.execution.Work;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The server of the Model Context Protocol, message by message; the tests do what an executor does.
 */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class ToolCallsIT extends RunningExecution {
  private static final String[] BOTH = {"Accept", "application/json, text/event-stream"};
  private static final String STATELESS = "2026-07-28";

  @Inject StreamOperations stream;

  private String tool;

  @Override
  String agent() {
    String id = super.agent();
    tool = "t_" + id.substring("agent_".length());
    assertEquals(
        200,
        api.patch(
                "/v1/agents/" + id,
                "{\"tool_name\": \"%s\", \"max_concurrency\": 9}".formatted(tool))
            .status());
    return id;
  }

  private static Answer send(Api as, String path, String body, String... headers) {
    List<String> all = new ArrayList<>(List.of(BOTH));
    all.addAll(List.of(headers));
    return as.post(path, body, all.toArray(String[]::new));
  }

  private Answer send(String method, String params, String... headers) {
    return send(
        api,
        "/mcp",
        "{\"jsonrpc\": \"2.0\", \"id\": \"é1\", \"method\": \"%s\", \"params\": %s}"
            .formatted(method, params),
        headers);
  }

  /**
   * A request of the revision without sessions.
   *
   * @param params the members of the parameters, without the braces
   * @param capabilities of the client
   */
  private Answer stateless(String method, String params, String capabilities) {
    String meta =
        """
        "_meta": {"progressToken": 7, "io.modelcontextprotocol/protocolVersion": "%s",
          "io.modelcontextprotocol/clientCapabilities": %s, "io.modelcontextprotocol/logLevel": "warning"}"""
            .formatted(STATELESS, capabilities);
    return send(
        method,
        "{" + (params.isEmpty() ? "" : params + ", ") + meta + "}",
        "MCP-Protocol-Version",
        STATELESS,
        "Mcp-Method",
        method,
        "Mcp-Name",
        tool);
  }

  private static void assertError(int status, int code, Answer answer) {
    assertEquals(status, answer.status(), answer.text());
    assertEquals(code, (int) answer.get("error.code"), answer.text());
  }

  private String session(String capabilities) {
    Answer begun =
        send(
            "initialize",
            """
            {"protocolVersion": "2025-11-25", "capabilities": %s, "clientInfo": {"name": "x", "version": "1"}}"""
                .formatted(capabilities));
    assertEquals("2025-11-25", begun.get("result.protocolVersion"), begun.text());
    return begun.header("Mcp-Session-Id");
  }

  private CompletableFuture<Answer> call(String session, String more) {
    return CompletableFuture.supplyAsync(
        () ->
            send(
                "tools/call",
                "{\"name\": \"%s\", \"arguments\": {\"n\": 1.10}%s}".formatted(tool, more),
                "MCP-Protocol-Version",
                "2025-11-25",
                "Mcp-Session-Id",
                session));
  }

  private boolean isToBeCancelled() {
    return QuarkusTransaction.requiringNew()
        .call(() -> ExecutorJob.<ExecutorJob>findById(job).cancelRequested);
  }

  /** An executor begins the job that a call has submitted. */
  private Work begin() {
    executor =
        QuarkusTransaction.requiringNew()
            .call(() -> Executor.make(agent, 1, "build_", Instant.now(), Duration.ofSeconds(60)))
            .orElseThrow()
            .id;
    Work work =
        assertInstanceOf(
                PollAnswer.Some.class,
                dispatcher.poll(executor, new Poll(1, true, true), Duration.ofSeconds(30)).join())
            .work();
    execution = work.executionId();
    job = api.get("/v1/executions/" + execution).get("executor_job_id");
    return work;
  }

  private void emit(int first, String value) {
    run(
        "{\"op\": \"emit\", \"first\": %d, \"values\": %s}".formatted(first, quoted(value)),
        stream);
  }

  private void run(String body, StreamOperations operations) {
    operations.run(executor, execution, Body.parse(body.getBytes(StandardCharsets.UTF_8)));
  }

  private String quoted(String text) {
    return mapper.valueToTree(text).toString();
  }

  private void succeed(String value, String... levelsAndLines) {
    Instant now = Instant.now();
    List<Frame> frames = new ArrayList<>();
    frames.add(frame("{\"seq\": 1, \"type\": \"started\", \"time\": \"%s\"}".formatted(now)));
    for (int i = 0; i < levelsAndLines.length; i += 2) {
      frames.add(
          frame(
              """
              {"seq": %d, "type": "log", "time": "%s", "entries": [{"seq": %d, "time": "%s", "stream": "logging",
                "level": "%s", "logger": "app", "message": "%s", "continued": false}]}"""
                  .formatted(
                      frames.size() + 1,
                      now,
                      i / 2 + 1,
                      now,
                      levelsAndLines[i],
                      levelsAndLines[i + 1])));
    }
    frames.add(
        frame(
            """
            {"seq": %d, "type": "returned", "time": "%s", "logs_truncated": false, "value": %s,
             "usage": {"cpu_seconds": 0.1, "max_memory_bytes": 1}}"""
                .formatted(frames.size() + 1, now, quoted(value))));
    intake.take(executor, execution, frames);
  }

  private Frame frame(String json) {
    return Frame.parse(mapper, json);
  }

  private record Event(String id, JsonNode message) {}

  private List<Event> events(Answer answer) {
    assertEquals(200, answer.status(), answer.text());
    assertEquals("text/event-stream", answer.header("Content-Type"));
    List<Event> events = new ArrayList<>();
    for (String block : answer.text().split("\n\n")) {
      String id = null;
      StringBuilder data = new StringBuilder();
      for (String line : block.split("\n")) {
        if (line.startsWith("id: ")) {
          id = line.substring(4);
        } else if (line.startsWith("data: ")) {
          data.append(line.substring(6)).append('\n');
        } else {
          assertTrue(line.isEmpty() || line.startsWith(":"), line);
        }
      }
      if (id != null || !data.isEmpty()) {
        events.add(new Event(id, data.toString().isBlank() ? null : tree(data.toString())));
      }
    }
    return events;
  }

  private JsonNode tree(String json) {
    try {
      return mapper.readTree(json);
    } catch (JsonProcessingException e) {
      throw new AssertionError(json, e);
    }
  }

  private static <T> T soon(CompletableFuture<T> answer)
      throws InterruptedException, ExecutionException, TimeoutException {
    return answer.get(60, TimeUnit.SECONDS);
  }

  @Test
  void aCallHasItsPayloadItsProgressAndItsResult() throws Exception {
    CompletableFuture<Answer> called =
        call(session("{}"), ", \"_meta\": {\"progressToken\": \"p\"}");
    Work work = begin();
    assertEquals("{\"n\": 1.10}", work.payload());
    emit(1, "\"first\"");
    emit(2, "2");
    run("{\"op\": \"progress\", \"fraction\": 0.5, \"message\": \"half\"}", stream);
    succeed("{\"price\":\n 1.10}", "ERROR", "not for this client");
    Answer answer = soon(called);
    List<Event> events = events(answer);
    JsonNode last = events.get(events.size() - 1).message();
    assertEquals("é1", last.path("id").asText());
    assertEquals("{\"price\":\n 1.10}", last.at("/result/content/0/text").asText());
    assertTrue(answer.text().contains("\"structuredContent\":{\"price\":\ndata:  1.10}"));
    assertEquals(job, last.at("/result/_meta").path("dev.roost/executor_job_id").asText());
    List<JsonNode> progress =
        events.stream()
            .map(Event::message)
            .filter(
                message -> message != null && message.path("method").asText().endsWith("/progress"))
            .map(message -> message.path("params"))
            .toList();
    double before = 0;
    for (JsonNode each : progress) {
      assertTrue(each.path("progress").asDouble() > before, progress.toString());
      before = each.path("progress").asDouble();
      assertEquals("p", each.path("progressToken").asText());
    }
    List<String> messages = progress.stream().map(each -> each.path("message").asText()).toList();
    assertTrue(messages.containsAll(List.of("\"first\"", "2", "half")), messages.toString());
    assertFalse(answer.text().contains("not for this client"));
  }

  @Test
  void aLostConnectionIsContinuedWhereItWas() throws Exception {
    String session = session("{}");
    CompletableFuture<Answer> called = call(session, ", \"_meta\": {\"progressToken\": 1}");
    begin();
    emit(1, "\"first\"");
    emit(2, "\"second\"");
    succeed("3");
    List<Event> events = events(soon(called));
    Event first =
        events.stream()
            .filter(each -> each.message() != null && each.message().toString().contains("first"))
            .findFirst()
            .orElseThrow();
    for (Event from : List.of(events.get(0), first)) {
      Answer rest =
          api.get(
              "/mcp",
              "Accept",
              "text/event-stream",
              "Last-Event-ID",
              from.id(),
              "MCP-Protocol-Version",
              "2025-11-25",
              "Mcp-Session-Id",
              session);
      List<Event> continued = events(rest);
      assertEquals(from != first, rest.text().contains("first"), rest.text());
      assertTrue(rest.text().contains("second"), rest.text());
      JsonNode last = continued.get(continued.size() - 1).message();
      assertEquals("é1", last.path("id").asText());
      assertEquals("3", last.at("/result/content/0/text").asText());
    }
    for (String wrong : List.of("x", "%", "e30", "eyJqb2IiOiJ4IiwiaWQiOjF9")) {
      Answer refused = api.get("/mcp", "Accept", "text/event-stream", "Last-Event-ID", wrong);
      assertEquals(400, refused.status(), refused.text());
    }
  }

  @Test
  void onlyTheSessionOfACallCancelsIt() throws Exception {
    String session = session("{}");
    CompletableFuture<Answer> called = call(session, "");
    begin();
    String cancelled =
        "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/cancelled\", \"params\": {\"requestId\": \"é1\"}}";
    for (String other : List.of(session("{}"), session)) {
      assertEquals(202, send(api, "/mcp", cancelled, "Mcp-Session-Id", other).status(), other);
      if (!other.equals(session)) {
        assertEquals("running", read(job).get("state"));
        assertFalse(isToBeCancelled());
      }
    }
    Await.until("the job is to be cancelled", this::isToBeCancelled);
    succeed("1");
    soon(called);
  }

  @Test
  void aStatelessCallHasLogsOfTheLevelThatItWants() throws Exception {
    CompletableFuture<Answer> called =
        CompletableFuture.supplyAsync(
            () -> stateless("tools/call", "\"name\": \"%s\"".formatted(tool), "{}"));
    assertEquals("{}", begin().payload());
    succeed("\"text\"", "INFO", "unwanted", "ERROR", "wanted");
    List<Event> events = events(soon(called));
    JsonNode last = events.get(events.size() - 1).message();
    assertEquals("complete", last.at("/result/resultType").asText());
    assertEquals("text", last.at("/result/content/0/text").asText());
    List<JsonNode> logs =
        events.stream()
            .map(Event::message)
            .filter(message -> message.path("method").asText().endsWith("/message"))
            .map(message -> message.path("params"))
            .toList();
    assertEquals("[{\"level\":\"error\",\"logger\":\"app\",\"data\":\"wanted\"}]", logs.toString());
    assertNull(events.get(0).id());
  }

  @Test
  void aCallMayBecomeATask() throws Exception {
    String tasks = "{\"extensions\": {\"io.modelcontextprotocol/tasks\": {}}}";
    Answer begun = stateless("tools/call", "\"name\": \"%s\"".formatted(tool), tasks);
    assertEquals("task", begun.get("result.resultType"), begun.text());
    String id = "\"taskId\": \"" + begun.get("result.taskId") + "\"";
    assertEquals("working", stateless("tasks/get", id, tasks).get("result.status"));
    begin();
    succeed("[5]");
    Answer ended = stateless("tasks/get", id, tasks);
    assertEquals("completed", ended.get("result.status"), ended.text());
    assertEquals("[5]", ended.get("result.result.content[0].text"));
    assertError(400, -32021, stateless("tasks/get", id, "{}"));
    assertError(400, -32602, stateless("tasks/get", "\"taskId\": \"xjob_none\"", tasks));
    assertError(404, -32601, stateless("tasks/result", id, tasks));
    assertEquals(
        5,
        mapper
            .readTree(
                (String)
                    send("tasks/result", "{" + id + "}", "MCP-Protocol-Version", "2025-11-25")
                        .get("result.content[0].text"))
            .get(0)
            .asInt());
    assertError(
        200, -32602, send("tasks/cancel", "{" + id + "}", "MCP-Protocol-Version", "2025-11-25"));
  }

  @Test
  void whatIsNoMessageIsRefused() {
    for (String body :
        List.of("", "{", "nonsense", "{\"jsonrpc\": \"2.0\", \"id\": 1, \"id\": 2}")) {
      Answer refused = send(api, "/mcp", body);
      assertEquals(400, refused.status(), body);
      int code = refused.get("error.code");
      assertTrue(code == -32700 || body.isEmpty() && code == -32600, refused.text());
    }
    for (String body :
        List.of(
            "[]",
            "[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}]",
            "{}",
            "{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"ping\"}",
            "{\"jsonrpc\": \"2.0\", \"id\": 1}",
            "{\"jsonrpc\": \"2.0\", \"result\": {}}",
            "{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\"}",
            "{\"jsonrpc\": \"2.0\", \"id\": 1.5, \"method\": \"ping\"}",
            "{\"jsonrpc\": \"2.0\", \"id\": \"%s\", \"method\": \"ping\"}"
                .formatted("x".repeat(500)),
            "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": 1}",
            "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\", \"params\": []}")) {
      assertError(400, -32600, send(api, "/mcp", body));
    }
    String deep = "[".repeat(4_000) + "]".repeat(4_000);
    assertError(
        200,
        -32602,
        send("tools/call", "{\"name\": \"none\", \"arguments\": {\"a\": %s}}".formatted(deep)));
    for (String params :
        List.of(
            "{}",
            "{\"name\": 1}",
            "{\"name\": \"none\"}",
            "{\"name\": \"%s\", \"arguments\": []}".formatted(tool))) {
      Answer refused = send("tools/call", params);
      assertEquals(-32602, (int) refused.get("error.code"), refused.text());
    }
    assertError(200, -32601, send("tools/destroy", "{}"));
    assertError(200, -32602, send("tools/list", "{\"cursor\": \"x\"}"));
    assertError(200, -32602, send("resources/list", "{\"cursor\": \"x\"}"));
    assertError(200, -32002, send("resources/read", "{\"uri\": \"roost://executions/log\"}"));
    assertEquals(415, api.post("/mcp", "{}", "Content-Type", "text/plain").status());
  }

  @Test
  void requestsFitTheRevisionThatTheyName() {
    assertEquals("2024-11-05", versionFor("2024-11-05"));
    assertEquals("2025-11-25", versionFor("2099-01-01"));
    assertEquals("2025-11-25", versionFor(STATELESS));
    assertError(400, -32022, send("ping", "{}", "MCP-Protocol-Version", "2099-01-01"));
    assertError(400, -32602, send("tools/list", "{}", "MCP-Protocol-Version", STATELESS));
    assertError(400, -32600, send("ping", "{}", "Mcp-Session-Id", "mine"));
    Answer discovered = stateless("server/discover", "", "{}");
    assertTrue(discovered.<List<String>>get("result.supportedVersions").contains(STATELESS));
    String meta =
        """
        {"_meta": {"io.modelcontextprotocol/protocolVersion": "%s", "io.modelcontextprotocol/clientCapabilities": {}},
         "name": "%s"}""";
    String params = meta.formatted(STATELESS, tool);
    String[] good = {"MCP-Protocol-Version", STATELESS, "Mcp-Method", "tools/list"};
    assertEquals(200, send("tools/list", params, good).status());
    assertError(400, -32020, send("tools/list", params, "MCP-Protocol-Version", STATELESS));
    assertError(400, -32020, send("tools/list", params, "Mcp-Method", "tools/list"));
    assertError(400, -32020, send("tools/call", params, good));
    assertError(
        400,
        -32022,
        send(
            "tools/list",
            meta.formatted("2099-01-01", tool),
            "MCP-Protocol-Version",
            "2099-01-01",
            "Mcp-Method",
            "tools/list"));
    assertError(404, -32601, stateless("ping", "", "{}"));
  }

  private String versionFor(String wanted) {
    return send("initialize", "{\"protocolVersion\": \"%s\"}".formatted(wanted))
        .get("result.protocolVersion");
  }

  @Test
  void keysAndHeadersAreChecked() {
    assertEquals(401, send(Api.withKey(null), "/mcp", "{}").status());
    Answer get = api.get("/mcp");
    assertEquals(405, get.status());
    assertEquals("POST", get.header("Allow"));
    String list = "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}";
    String call =
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"%s\"}}"
            .formatted(tool);
    for (Role role : Role.values()) {
      Api as = Api.as(role);
      assertEquals(200, send(as, "/mcp", list).status());
      assertEquals(
          role == Role.WRITE ? 200 : 403, send(as, "/mcp/admin", list).status(), role.toString());
    }
    Answer refused = send(Api.as(Role.READ), "/mcp", call);
    assertEquals(403, refused.status());
    assertTrue(refused.<String>get("error.message").contains("\"execute\""), refused.text());
    int before = jobs();
    assertEquals(406, api.post("/mcp", call, "Accept", "application/json").status());
    assertEquals(before, jobs());
    String decision =
        "{\"jsonrpc\": \"2.0\", \"id\": \"approval_none\", \"result\": {\"action\": \"accept\"}}";
    assertError(400, -32602, send(api, "/mcp", decision));
    assertEquals(403, send(Api.as(Role.READ), "/mcp", decision).status());
  }

  private int jobs() {
    return api.get("/v1/executor-jobs?agent_id=" + agent).<List<Object>>get("data").size();
  }

  @Test
  void pagesOfToolsFollowOneAnother() {
    String large = "x".repeat(60_000);
    List<String> made = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      String name = "zz_%s_%02d".formatted(tool.substring(2, 20), i);
      made.add(name);
      assertEquals(
          201,
          api.post(
                  "/v1/agents",
                  """
                  {"script": "def main():\\n  return 1", "tool_name": "%s", "input_schema": {"type": "%s"},
                   "output_schema": {"type": "object", "description": "%s"}}"""
                      .formatted(name, i % 2 == 0 ? "object" : "string", large))
              .status());
    }
    List<String> seen = new ArrayList<>();
    String cursor = null;
    int pages = 0;
    do {
      Answer page =
          send("tools/list", cursor == null ? "{}" : "{\"cursor\": \"%s\"}".formatted(cursor));
      seen.addAll(page.get("result.tools.name"));
      for (String type : page.<List<String>>get("result.tools.inputSchema.type")) {
        assertEquals("object", type);
      }
      cursor = page.get("result.nextCursor");
      pages++;
    } while (cursor != null);
    assertTrue(pages > 1, "pages have at most a mebibyte");
    assertEquals(
        made, seen.stream().filter(name -> name.startsWith(made.get(0).substring(0, 20))).toList());
    assertEquals(seen.stream().sorted().toList(), seen);
    assertEquals(seen.stream().distinct().toList(), seen);
    api.delete("/v1/agents/" + agent);
    assertFalse(send("tools/list", "{}").text().toLowerCase(Locale.ROOT).contains(tool));
  }
}
