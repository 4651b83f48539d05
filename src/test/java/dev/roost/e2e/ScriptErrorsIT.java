package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mistakes of scripts and requests: what their authors are told, and that nothing else suffers. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class ScriptErrorsIT {
  /** A script that is wrong from its start: nothing of it runs. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "def run(): pass | no_main | main",
        "def main(a, b, c): pass | bad_signature | request",
        "main = 3 | no_main | main",
        "def main():\\n    return (1 | syntax_error | '(' was never closed",
        "import nothing_like_this\\ndef main(): pass | import_error | nothing_like_this",
      })
  @LocalOnly("the same process does it in a pod, or none")
  void aScriptThatCannotBeCalledFailsAtOnce(
      String script, String reason, String message, Client client) {
    String agent =
        client.agent(
            script.replace("\\n", "\n"), "python_version", newest(client), "max_attempts", 3);
    JsonNode job = client.execute(agent, null);
    assertEquals("failed", job.path("state").asText());
    assertEquals(reason, job.path("reason").asText());
    assertTrue(job.path("message").asText().contains(message), job.path("message").asText());
    assertEquals(1, job.path("attempts").asInt());
    repairs(client, agent);
  }

  @Test
  @LocalOnly("the same process does it in a pod, or none")
  void aSyntaxErrorNamesLineAndColumn(Client client) {
    String agent = client.agent("def main():\n    return 1 +* 2\n");
    JsonNode error = client.execute(agent, null).path("execution").path("error");
    assertEquals(2, error.path("line").asInt());
    assertEquals(15, error.path("column").asInt());
    repairs(client, agent);
  }

  @Test
  @LocalOnly("the same process does it in a pod, or none")
  void anExceptionDeepInAnImportShowsTheScriptsOwnLine(Client client) {
    String agent =
        client.agent("import json\n\nCONFIGURATION = json.loads('{oops')\n\ndef main(): pass\n");
    JsonNode execution = client.execute(agent, null).path("execution");
    assertEquals("exception", execution.path("reason").asText());
    assertEquals(3, execution.path("error").path("line").asInt());
    String traceback = execution.path("error").path("traceback").asText();
    assertTrue(traceback.contains("line 3") && traceback.contains("JSONDecodeError"), traceback);
    String log = String.join("\n", client.messages(execution.path("id").asText()));
    assertTrue(log.endsWith(traceback.strip()), log);
    repairs(client, agent);
  }

  /** What a script does to itself while it runs. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "raise ValueError('too blue') | failed | exception | ValueError: too blue",
        "return {'items': [1, {'when': datetime.datetime.now()}]} | failed | not_json | $.items[1].when is a datetime",
        "return [float('nan')] | failed | not_json | $[0] is NaN",
        "sys.exit(3) | failed | exited | 3",
        "os._exit(4) | failed | exited | status 4",
        "os.kill(os.getpid(), signal.SIGSEGV) | failed | exited | SIGSEGV",
        "while True: pass | timed_out | deadline_exceeded | 2 s",
        "while True: data.append(bytearray(8_000_000)); time.sleep(0.01) | failed | out_of_memory | 128 MiB",
        "bombs() | failed | too_many_processes | 256",
        "return 'x' * (17 << 20) | failed | return_value_too_large | 16",
        "fill() | failed | out_of_disk | No space left",
      })
  void aFailedScriptHasAReasonAndTheNextExecutionSucceeds(
      String code, String state, String reason, String message, Client client) {
    String script =
        """
        import datetime, os, signal, sys, time

        data = []

        def bombs():
            while True:
                if os.fork() == 0:
                    time.sleep(600)

        def fill():
            with open("/dev/full", "w") as file:
                file.write("x")

        def main(request):
            if request.payload == "fine":
                return "fine"
            %s
        """
            .formatted(code);
    int memory = reason.equals("too_many_processes") ? 4096 : 128;
    String agent =
        client.agent(
            script, "timeout", reason.equals("deadline_exceeded") ? 2 : 60, "memory", memory);
    JsonNode execution = client.execute(agent, null).path("execution");
    assertEquals(state, execution.path("state").asText(), execution::toPrettyString);
    assertEquals(reason, execution.path("reason").asText());
    assertTrue(
        execution.path("message").asText().contains(message), execution.path("message").asText());
    // Which isn't about its time-out.
    client.send("PATCH", "/v1/agents/" + agent, "{\"timeout\": 60}").expect(200);
    JsonNode next = client.execute(agent, "\"fine\"");
    assertEquals("succeeded", next.path("state").asText());
  }

  @Test
  @LocalOnly("on a cluster these files are in another container")
  void aScriptReachesNoSecretOfRoost(Client client, RoostProcess roost) {
    assumeTrue(
        isConfined(client),
        () -> "scripts aren't confined here: " + client.get("/v1/runtime").text());
    String agent =
        client.agent(
            """
            import os

            def attempt(path):
                try:
                    open(path, "rb").close()
                    return "done"
                except (PermissionError, ProcessLookupError):
                    return "refused"

            def main(request):
                names = ("api_key", "database.password", "database/PG_VERSION", "logs/roost.log", "lock")
                files = [f"{request.payload['data']}/{name}" for name in names]
                files += [f"/proc/{pid}/environ" for pid in request.payload["processes"]]
                return [attempt(path) for path in files if os.path.exists(path)]
            """);
    ObjectNode payload = JsonNodeFactory.instance.objectNode();
    payload.put("data", roost.data().toString());
    ArrayNode processes = payload.putArray("processes");
    roost.processes().forEach(one -> processes.add(one.pid()));
    JsonNode found = client.execute(agent, payload.toString()).at("/execution/return_value");
    assertTrue(found.size() > 8, found::toString);
    found.forEach(one -> assertEquals("refused", one.asText()));
  }

  @Test
  @LocalOnly("on a cluster network policies limit it, and not the loopback address")
  void aScriptWithoutEgressReachesNoAddress(Client client, Gate gate) {
    assumeTrue(
        isConfined(client),
        () -> "scripts aren't confined here: " + client.get("/v1/runtime").text());
    String agent =
        client.agent(
            """
            import socket

            def main(request):
                try:
                    socket.create_connection(request.payload)
                except PermissionError:
                    return "refused"
            """,
            "egress",
            "none");
    JsonNode job = client.execute(agent, gate.address());
    assertEquals("refused", job.at("/execution/return_value").asText(), job::toPrettyString);
  }

  @Test
  @LocalOnly("on a cluster network policies limit it, and not the loopback address")
  void aScriptWithAListReachesItsPortsOnly(Client client, Gate gate) {
    String egress = client.get("/v1/runtime").json().path("egress").asText();
    assumeTrue(egress.equals("ports"), () -> "ports can't be limited here: " + egress);
    gate.open();
    String script =
        """
        import socket

        def main(request):
            try:
                socket.create_connection(request.payload).close()
                return "connected"
            except PermissionError:
                return "refused"
        """;
    String port = gate.address().replaceAll(".*[, ](\\d+)\\D*", "$1");
    String open = client.agent(script, "egress", "192.0.2.7:" + port);
    JsonNode job = client.execute(open, gate.address());
    assertEquals("connected", job.at("/execution/return_value").asText(), job::toPrettyString);
    String closed = client.agent(script, "egress", "127.0.0.1:443");
    job = client.execute(closed, gate.address());
    assertEquals("refused", job.at("/execution/return_value").asText(), job::toPrettyString);
  }

  /** Signals included, which takes Linux 6.12. */
  private static boolean isConfined(Client client) {
    JsonNode sandbox = client.get("/v1/runtime").expect(200).json().path("sandbox");
    return sandbox.path("mechanism").asText().startsWith("landlock")
        && sandbox.path("message").isNull();
  }

  @Test
  @LocalOnly("no process can kill the first one of its container, and that is the runner")
  void anExecutionWhoseRunnerIsKilledIsLostAndLeavesNothing(
      Client client, RoostProcess roost, Gate gate) {
    String agent =
        client.agent(
            """
            import os, socket, subprocess, time

            def main(request):
                if request.payload == "fine":
                    return "fine"
                subprocess.Popen(["sleep", "611"], start_new_session=True)
                print("shot", flush=True)
                socket.create_connection(request.payload).recv(1)
                try:
                    os.kill(os.getppid(), 9)
                except PermissionError:
                    print("confined", flush=True)
                time.sleep(600)
            """);
    String jobId = client.submit(agent, gate.address());
    client.logged(jobId, "shot");
    gate.open();
    if (isConfined(client)) {
      client.logged(jobId, "confined");
      roost.workers().executorOf(agent, "runner").kill();
    }
    JsonNode job = client.ended(jobId);
    assertEquals("failed", job.path("state").asText());
    assertEquals("lost", job.path("execution").path("state").asText());
    assertEquals("executor_lost", job.path("reason").asText());
    assertEquals("shot", client.messages(job.path("execution").path("id").asText()).get(0));
    Eventually.until(
        "what it started is gone",
        () -> roost.processes().stream().noneMatch(one -> one.command().equals("sleep 611")));
    assertEquals("succeeded", client.execute(agent, "\"fine\"").path("state").asText());
  }

  @Test
  void aRunningScriptCanBeCancelled(Client client) {
    String agent =
        client.agent(
            """
            import time

            def main(request):
                if request.payload:
                    return "fine"
                try:
                    print("working")
                    time.sleep(600)
                finally:
                    print("cleaned up")
            """,
            "max_attempts",
            5);
    String job = client.submit(agent, null);
    client.logged(job, "working");
    client.post("/v1/executor-jobs/" + job + "/cancel", null).expect(200);
    JsonNode ended = client.ended(job);
    assertEquals("cancelled", ended.path("state").asText());
    assertEquals("cancelled", ended.path("reason").asText());
    assertEquals("cancelled", ended.path("execution").path("state").asText());
    assertEquals(1, ended.path("attempts").asInt());
    assertEquals("succeeded", client.execute(agent, "1").path("state").asText());
  }

  @Test
  @LocalOnly("the same process does it in a pod, or none")
  void aPayloadThatIsTooLargeIsRefusedWithTheLimit(Client client) {
    String agent = client.agent("def main(request):\n    return len(request.payload)");
    int limit = 4 << 20;
    HttpAnswer refused =
        client.post(
            "/v1/agents/" + agent + "/execute", "{\"payload\": \"" + "x".repeat(limit - 1) + "\"}");
    refused.expect(413);
    assertEquals("too_large", refused.json().path("code").asText());
    assertTrue(refused.json().path("detail").asText().contains("4,194,304"), refused.text());
    JsonNode job = client.execute(agent, "\"" + "x".repeat(limit - 2) + "\"");
    assertEquals(limit - 2, job.path("execution").path("return_value").asInt());
  }

  @Test
  @LocalOnly("the same process does it in a pod, or none")
  void deepNestingIsRefusedOrRunsButBreaksNothing(Client client) {
    String agent = client.agent("def main(request):\n    return request.payload");
    for (int depth : new int[] {100, 900, 4_000, 100_000}) {
      String payload = "[".repeat(depth) + "]".repeat(depth);
      HttpAnswer answer =
          client.post("/v1/agents/" + agent + "/execute?wait=60", "{\"payload\": " + payload + "}");
      if (answer.status() == 201) {
        JsonNode job = client.ended(answer.json().path("id").asText());
        String state = job.path("state").asText();
        assertTrue(state.equals("succeeded") || depth > 900, job.path("message").asText());
      } else {
        assertEquals(400, answer.status(), answer.text());
        assertEquals("malformed_json", answer.json().path("code").asText());
        assertTrue(depth > 4_000, answer.text());
      }
    }
    assertEquals("succeeded", client.execute(agent, "1").path("state").asText());
  }

  private static String newest(Client client) {
    return client.get("/v1/runtime").expect(200).json().path("default").asText();
  }

  /** The agent works once its script does. */
  private static void repairs(Client client, String agent) {
    String correct = HttpAnswer.write(java.util.Map.of("script", "def main():\n    return 'fine'"));
    client.send("PATCH", "/v1/agents/" + agent, correct).expect(200);
    assertEquals("succeeded", client.execute(agent, null).path("state").asText());
  }
}
