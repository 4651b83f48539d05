package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** ExecutorJobs, executors and logs, as clients see them. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class ExecutionsIT {
  /** Runs until the gate opens whose address is its payload. */
  private static final String GATED =
      """
      import socket

      def main(request):
          print("waiting")
          socket.create_connection(request.payload).recv(1)
          return "done"
      """;

  @Test
  void aQueuedARunningAndAnEndedJobCanBeCancelled(Client client, Gate gate) {
    String agent = client.agent(GATED, "max_concurrency", 1);
    String running = client.submit(agent, gate.address());
    String queued = client.submit(agent, gate.address());
    client.logged(running, "waiting");
    assertEquals("concurrency", client.job(queued).path("waiting_on").asText());
    assertEquals("cancelled", cancel(client, queued).path("state").asText());
    assertEquals(0, client.job(queued).path("attempts").asInt());
    cancel(client, running);
    assertEquals("cancelled", client.ended(running).path("state").asText());
    assertEquals("cancelled", cancel(client, running).path("state").asText());
    gate.open();
    JsonNode done = client.execute(agent, gate.address());
    assertEquals("succeeded", cancel(client, done.path("id").asText()).path("state").asText());
  }

  @Test
  @LocalOnly("the control plane does it")
  void noMoreExecutionsRunAtOnceThanTheAgentAllows(Client client) {
    String agent =
        client.agent(
            """
            import time

            def main():
                started = time.time()
                time.sleep(0.2)
                return [started, time.time()]
            """,
            "max_concurrency",
            2);
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      jobs.add(client.submit(agent, null));
    }
    List<double[]> spans = new ArrayList<>();
    for (String job : jobs) {
      JsonNode value = client.ended(job).path("execution").path("return_value");
      spans.add(new double[] {value.path(0).asDouble(), value.path(1).asDouble()});
    }
    for (double[] span : spans) {
      long during =
          spans.stream().filter(other -> other[0] <= span[0] && span[0] < other[1]).count();
      assertTrue(during <= 2, during + " at once");
    }
  }

  /** A webhook of GitHub, signed with the secret of the agent's URL, reaches the script. */
  @Test
  void anAgentAnswersSignedRequestsAtItsUrl(Client client) throws GeneralSecurityException {
    String agent =
        client.agent(
            """
            def main(request):
                http = request.http
                event = http.json()
                return {
                    "status": 201,
                    "headers": {"Content-Type": "text/plain", "X-Event": http.headers["X-GitHub-Event"]},
                    "body": f"{http.method} {http.path} {http.query['a']} {event['zen']} {len(http.body)}",
                }
            """);
    String secret = "It's a Secret to Everybody";
    client
        .send(
            "PUT",
            "/v1/agents/" + agent + "/url",
            """
            {"format": "http", "authentication": "signature", "signature_scheme": "github", "secret": "%s",
             "wait_seconds": 60}"""
                .formatted(secret))
        .expect(201);
    String name = client.get("/v1/agents/" + agent).json().path("name").asText();
    String path = "/run/" + name + "/hooks?a=1";
    String body = "{\"zen\": \"é\"}";
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    String signature =
        "sha256=" + HexFormat.of().formatHex(mac.doFinal(body.getBytes(StandardCharsets.UTF_8)));
    Client github = client.withKey(null);
    String[] headers = {
      "X-GitHub-Event", "ping", "X-GitHub-Delivery", "1", "X-Hub-Signature-256", signature
    };
    HttpAnswer answer = github.post(path, body, headers).expect(201);
    assertEquals("POST /hooks ['1'] é 13", answer.text());
    assertEquals("ping", answer.header("X-Event"));
    assertTrue(answer.header("Content-Security-Policy").contains("sandbox"));
    assertEquals(answer.text(), github.post(path, body, headers).expect(201).text());
    github.post(path, body.replace("é", "e"), headers).expect(401);
    JsonNode jobs = client.get("/v1/executor-jobs?agent_id=" + agent).json().path("data");
    assertEquals(1, jobs.size());
  }

  @Test
  void anIdleExecutorEndsWhenItsWarmthIsOver(Client client, Workers workers, Gate gate) {
    String agent = client.agent(GATED, "keep_warm", 2);
    String job = client.submit(agent, gate.address());
    Worker sidecar = workers.executorOf(agent, "sidecar");
    Worker runner = workers.executorOf(agent, "runner");
    gate.open();
    client.ended(job);
    Eventually.until("both have ended", () -> !sidecar.isAlive() && !runner.isAlive());
    assertEquals("succeeded", client.execute(agent, gate.address()).path("state").asText());
  }

  /** Whatever it changes, the next execution is in an executor that has it. */
  @Test
  void anUpdateTakesEffectWithTheNextExecutionOnWarmExecutors(Client client) {
    String script =
        "import os, socket\n\ndef main():\n    return f'{socket.gethostname()} {os.getppid()}'";
    String agent = client.agent(script, "max_concurrency", 1, "keep_warm", 600);
    String last = runner(client, agent);
    client.change(agent, "timeout", 30, "max_attempts", 2);
    assertEquals(last, runner(client, agent), "what each execution gets needs no other executor");
    List<List<Object>> changes =
        List.of(
            List.of("isolation", "pod"),
            List.of("isolation", "process"),
            List.of("memory", 300),
            List.of("cpu", 0.4),
            List.of("env_vars", "COLOUR=red"));
    for (List<Object> change : changes) {
      client.change(agent, change.toArray());
      String next = runner(client, agent);
      assertNotEquals(last, next, () -> "after " + change);
      last = next;
    }
    assertEquals(last, runner(client, agent), "it is warm");
  }

  @Test
  void isolationDecidesWhetherExecutionsShareAnExecutor(Client client) {
    String script =
        "import os, socket\n\ndef main():\n    return f'{socket.gethostname()} {os.getppid()}'";
    String shared = client.agent(script, "max_concurrency", 1, "keep_warm", 600);
    String apart = client.agent(script, "max_concurrency", 1, "isolation", "pod");
    assertEquals(runner(client, shared), runner(client, shared));
    assertNotEquals(runner(client, apart), runner(client, apart));
    assertTrue(client.execute(apart, null).path("execution").path("cold_start").asBoolean());
    assertFalse(client.execute(shared, null).path("execution").path("cold_start").asBoolean());
  }

  @Test
  void aJobRunsTheRevisionOfItsSubmission(Client client, Gate gate) {
    String agent = client.agent(GATED.replace("done", "old"), "max_concurrency", 1);
    String running = client.submit(agent, gate.address());
    String queued = client.submit(agent, gate.address());
    client.logged(running, "waiting");
    JsonNode changed =
        client
            .send(
                "PATCH",
                "/v1/agents/" + agent,
                HttpAnswer.write(Map.of("script", "def main(): return 'new'")))
            .expect(200)
            .json();
    assertEquals(2, changed.path("revision").asInt());
    String later = client.submit(agent, null);
    gate.open();
    for (String old : List.of(running, queued)) {
      assertEquals("old", value(client.ended(old)).asText());
      assertEquals(1, client.job(old).path("agent_revision").asInt());
    }
    assertEquals("new", value(client.ended(later)).asText());
    assertEquals(2, client.job(later).path("execution").path("agent_revision").asInt());
    String same = HttpAnswer.write(Map.of("script", "def main(): return 'new'", "timeout", 30));
    JsonNode again = client.send("PATCH", "/v1/agents/" + agent, same).expect(200).json();
    assertEquals(2, again.path("revision").asInt());
  }

  @Test
  void waitHoldsTheAnswerUntilTheEndOrTheTimeIsOver(Client client, Gate gate) {
    String execute = "/v1/agents/" + client.agent(GATED) + "/execute?wait=";
    String body = "{\"payload\": " + gate.address() + "}";
    JsonNode open = client.post(execute + "1", body).expect(201).json();
    assertTrue(open.path("finished_at").isNull());
    gate.open();
    String job = "/v1/executor-jobs/" + open.path("id").asText();
    assertEquals("succeeded", client.get(job + "?wait=60").json().path("state").asText());
    JsonNode ended = client.post(execute + "60", body).expect(201).json();
    assertEquals("succeeded", ended.path("state").asText());
    for (String wait : List.of("61", "-1")) {
      assertEquals(422, client.post(execute + wait, body).status());
    }
  }

  @Test
  @LocalOnly("the control plane does it")
  void aDeletedAgentsJobsAreCancelledAndItsHistoryStays(Client client, Gate gate) {
    String agent = client.agent(GATED, "max_concurrency", 1);
    String running = client.submit(agent, gate.address());
    String queued = client.submit(agent, gate.address());
    client.logged(running, "waiting");
    client.send("DELETE", "/v1/agents/" + agent, null).expect(204);
    assertEquals(404, client.get("/v1/agents/" + agent).status());
    assertEquals(404, client.post("/v1/agents/" + agent + "/execute", "{}").status());
    for (String job : List.of(running, queued)) {
      assertEquals("cancelled", client.ended(job).path("state").asText());
    }
    JsonNode jobs = client.get("/v1/executor-jobs?agent_id=" + agent).expect(200).json();
    assertEquals(List.of(queued, running), HttpAnswer.column(jobs, "id"));
  }

  @Test
  @LocalOnly("the control plane does it")
  void aLogIsThereAsPagesFilteredAndAsText(Client client) {
    String agent =
        client.agent(
            """
            import logging, sys

            def main():
                for number in range(5):
                    print("number", number)
                print("to stderr", file=sys.stderr)
                logging.getLogger("my.logger").warning("careful")
                print("x" * 70_000)
            """);
    JsonNode execution = client.execute(agent, null).path("execution");
    String logs = "/v1/executions/" + execution.path("id").asText() + "/logs";
    List<JsonNode> all = client.entries(execution.path("id").asText());
    assertEquals(9, all.size());
    JsonNode page = client.get(logs + "?limit=2&after_seq=2").expect(200).json();
    assertEquals(List.of("3", "4"), HttpAnswer.column(page, "seq"));
    assertEquals("log_4", page.path("next_cursor").asText());
    JsonNode warnings = client.get(logs + "?level=WARNING").expect(200).json();
    assertEquals(List.of("careful"), HttpAnswer.column(warnings, "message"));
    assertEquals(List.of("my.logger"), HttpAnswer.column(warnings, "logger"));
    JsonNode three = client.get(logs + "?contains=ber+3").expect(200).json();
    assertEquals(List.of("number 3"), HttpAnswer.column(three, "message"));
    String text = client.get(logs, "Accept", "text/plain").expect(200).text();
    assertTrue(text.startsWith("number 0\nnumber 1\n") && text.contains("x".repeat(70_000)));
    assertEquals(8, text.lines().count());
  }

  @Test
  void aLogCanBeFollowedLiveAndResumedAndSaysWhenItEnds(Client client, Gate gate) {
    String agent = client.agent(GATED.replace("return", "print('on')\n    return"));
    String job = client.submit(agent, gate.address());
    String id = client.logged(job, "waiting").path("execution").path("id").asText();
    String logs = "/v1/executions/" + id + "/logs";
    List<String> seen = new ArrayList<>();
    try (Stream<String> lines = client.lines(logs, "Accept", "text/event-stream")) {
      for (var iterator = lines.iterator(); iterator.hasNext(); ) {
        String line = iterator.next();
        seen.add(line);
        if (line.contains("waiting")) {
          gate.open(); // what comes now is live
        }
      }
    }
    assertEquals(List.of("1", "2"), values(seen, "id"));
    assertEquals(List.of("log", "log", "end"), values(seen, "event"));
    List<String> data = values(seen, "data");
    assertEquals("succeeded", HttpAnswer.parse(data.get(2)).path("state").asText());
    try (Stream<String> lines =
        client.lines(logs, "Accept", "text/event-stream", "Last-Event-ID", "1")) {
      List<String> rest = lines.toList();
      assertEquals(List.of("2"), values(rest, "id"));
      assertEquals(List.of("log", "end"), values(rest, "event"));
    }
  }

  private static List<String> values(List<String> lines, String field) {
    return lines.stream()
        .filter(line -> line.startsWith(field + ":"))
        .map(line -> line.substring(field.length() + 1).strip())
        .toList();
  }

  private static JsonNode cancel(Client client, String job) {
    return client.post("/v1/executor-jobs/" + job + "/cancel", null).expect(200).json();
  }

  private static JsonNode value(JsonNode job) {
    return job.path("execution").path("return_value");
  }

  /** On which machine and as which process the runner is. */
  private static String runner(Client client, String agent) {
    return value(client.execute(agent, null)).asText();
  }
}
