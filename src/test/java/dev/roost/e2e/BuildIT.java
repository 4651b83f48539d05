package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.roost.runtime.SdkWheel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Building agents' requirements, from a real package index. */
@EveryRuntime
@ExtendWith(SharedRoost.class)
class BuildIT {
  @Test
  void aPackageWithNativeCodeBuildsOnEveryPythonThereIs(Client client) {
    for (JsonNode version : client.get("/v1/runtime").expect(200).json().path("python_versions")) {
      String agent =
          client.agent(
              "import markupsafe._speedups, sys\n\ndef main():\n    return list(sys.version_info[:2])",
              "requirements",
              "MarkupSafe==3.0.2",
              "python_version",
              version.asText());
      JsonNode job = client.execute(agent, null);
      assertEquals("succeeded", job.path("state").asText(), job::toPrettyString);
      JsonNode found = job.path("execution").path("return_value");
      assertEquals(version.asText(), found.path(0).asInt() + "." + found.path(1).asInt());
    }
  }

  @Test
  void theSameRequirementsInAnotherOrderAndCaseAreReusedAtOnce(Client client) {
    String script = "import yaml, six\n\ndef main():\n    return yaml.safe_load('a: 1')";
    JsonNode one = client.createAgent(script, "requirements", "PyYAML==6.0.2\nsix==1.17.0\n");
    JsonNode built = client.built(one.path("latest_builder_job_id").asText());
    assertEquals("succeeded", built.path("state").asText(), built::toPrettyString);
    JsonNode other =
        client.createAgent(script, "requirements", "# again\nSIX == 1.17.0\n\n pyyaml==6.0.2");
    JsonNode job = builderJob(client, other);
    assertEquals("succeeded", job.path("state").asText());
    assertTrue(job.path("reused").asBoolean());
    assertEquals(built.path("build_id"), job.path("build_id"));
    JsonNode ended = client.execute(other.path("id").asText(), null);
    assertEquals("{\"a\":1}", ended.path("execution").path("return_value").toString());
    JsonNode build = client.get("/v1/builds/" + job.path("build_id").asText()).expect(200).json();
    List<String> names =
        Stream.of(build.path("packages").findValues("name"))
            .flatMap(List::stream)
            .map(JsonNode::asText)
            .sorted()
            .toList();
    assertEquals(List.of("pyyaml", "six"), names.stream().map(String::toLowerCase).toList());
    JsonNode billOfMaterials =
        client.get("/v1/builds/" + build.path("id").asText() + "/sbom").expect(200).json();
    assertEquals(
        List.of("pkg:pypi/pyyaml@6.0.2", "pkg:pypi/six@1.17.0"),
        billOfMaterials.path("components").findValuesAsText("purl"));
    client.get("/v1/builds/build_0/sbom").expect(404);
  }

  @Test
  void aBuildKnowsTheNamesOfItsPackages(Client client) {
    JsonNode agent =
        client.createAgent("def main():\n    return 1", "requirements", "humanize==4.13.0");
    JsonNode built = client.built(agent.path("latest_builder_job_id").asText());
    assertEquals("succeeded", built.path("state").asText(), built::toPrettyString);
    String modules = "/v1/builds/" + built.path("build_id").asText() + "/modules";
    assertEquals("{\"modules\":[\"humanize\"]}", client.get(modules).expect(200).json().toString());
    JsonNode symbols = client.get(modules + "/humanize").expect(200).json().path("symbols");
    JsonNode intcomma =
        Stream.iterate(0, i -> i < symbols.size(), i -> i + 1)
            .map(symbols::path)
            .filter(symbol -> symbol.path("name").asText().equals("intcomma"))
            .findFirst()
            .orElseThrow();
    assertEquals("function", intcomma.path("kind").asText());
    assertTrue(intcomma.path("signature").asText().startsWith("(value: NumberOrString"));
    assertTrue(client.get(modules + "/json").expect(200).json().path("symbols").isNull());
    client.get("/v1/builds/build_0/modules").expect(404);
  }

  @Test
  void agentsMadeAtOnceWithTheSameNewRequirementsBuildOnce(Client client) {
    List<CompletableFuture<JsonNode>> agents =
        IntStream.range(0, 4)
            .mapToObj(
                i ->
                    CompletableFuture.supplyAsync(
                        () ->
                            client.createAgent(
                                "def main():\n    return 1", "requirements", "idna==3.10")))
            .toList();
    List<JsonNode> jobs =
        agents.stream()
            .map(agent -> client.built(agent.join().path("latest_builder_job_id").asText()))
            .toList();
    assertEquals(4, jobs.stream().filter(job -> state(job).equals("succeeded")).count());
    assertEquals(1, jobs.stream().map(job -> job.path("build_id").asText()).distinct().count());
    assertEquals(3, jobs.stream().filter(job -> job.path("reused").asBoolean()).count());
  }

  /** The SDK is this Roost's, whatever the index has under that name. */
  @ParameterizedTest
  @ValueSource(strings = {"roost", "Roost[cli]==VERSION"})
  void aScriptThatRequiresRoostCallsIt(String requirement, Client client, RoostProcess roost) {
    SdkWheel sdk = SdkWheel.own();
    String called = client.agent("def main(request):\n    return request.payload + 1");
    String caller =
        client.agent(
            """
            import roost

            def main(request):
                client = roost.Client()
                names = [agent.id for agent in client.agents.list()]
                execution = client.agents.retrieve(request.payload).execute(payload=41)
                return [request.payload in names, execution.return_value, roost.__version__]
            """,
            "requirements",
            requirement.replace("VERSION", sdk.version()),
            "env_vars",
            "ROOST_API_KEY=%s\nROOST_URL=%s".formatted(roost.key(), roost.urlForScripts()));
    JsonNode job = client.execute(caller, '"' + called + '"');
    assertEquals("[true,42,\"" + sdk.version() + "\"]", value(job).toString(), job::toPrettyString);
    JsonNode agent = client.get("/v1/agents/" + caller).expect(200).json();
    String build = builderJob(client, agent).path("build_id").asText();
    JsonNode packages = client.get("/v1/builds/" + build).expect(200).json().path("packages");
    JsonNode installed =
        packages
            .valueStream()
            .filter(each -> each.path("name").asText().equals(SdkWheel.NAME))
            .findFirst()
            .orElseThrow();
    assertEquals(sdk.sha256(), installed.path("sha256").asText());
  }

  @Test
  void anotherVersionOfRoostsSdkIsRefusedWithTheOneThereIs(Client client) {
    String body = Client.settings("def main(): pass", "requirements", "six==1.17.0\nroost==9.9");
    HttpAnswer answer = client.post("/v1/agents", body).expect(422);
    JsonNode error = answer.json().path("errors").path(0);
    assertEquals(2, error.path("line").asInt());
    String detail = error.path("detail").asText();
    assertTrue(detail.contains("roost==" + SdkWheel.own().version()), detail);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "roost-has-no-such-package==1.0 | requirement_not_found | roost-has-no-such-package",
        "six==99.99.99 | requirement_not_found | 99.99.99",
        "requests==2.32.3;urllib3==1.20 | requirements_conflict | urllib3",
      })
  void aBuildThatCannotSucceedSaysWhyInUvsWords(
      String requirements, String reason, String words, Client client) {
    JsonNode agent =
        client.createAgent("def main(): pass", "requirements", requirements.replace(';', '\n'));
    JsonNode job = client.built(agent.path("latest_builder_job_id").asText());
    assertEquals("failed", state(job));
    assertEquals(reason, job.path("reason").asText(), job::toPrettyString);
    assertTrue(job.path("message").asText().contains(words), job.path("message").asText());
    JsonNode execution = client.execute(agent.path("id").asText(), null);
    assertEquals("failed", execution.path("state").asText());
    assertEquals("build_failed", execution.path("reason").asText());
    assertTrue(execution.path("message").asText().contains(words));
  }

  @Test
  void aRevisionThatCannotBeBuiltReplacesNothing(Client client) {
    String script = "def main():\n    return %d";
    String agent = client.agent(script.formatted(1), "requirements", "six==1.17.0");
    assertEquals(1, value(client.execute(agent, null)).asInt());
    JsonNode unbuildable =
        client.change(agent, "script", script.formatted(2), "requirements", "six==99.99.99");
    client.built(unbuildable.path("latest_builder_job_id").asText());

    JsonNode failed = client.get("/v1/agents/" + agent).expect(200).json();
    assertEquals(2, failed.path("revision").asInt());
    assertEquals(1, failed.path("running_revision").asInt());
    assertEquals("requirement_not_found", failed.path("build_failure").path("reason").asText());
    JsonNode before = client.execute(agent, null);
    assertEquals(1, value(before).asInt());
    assertEquals(1, before.path("execution").path("agent_revision").asInt());

    client.change(agent, "requirements", "six==1.16.0");
    client.runsNewest(agent);
    JsonNode fixed = client.execute(agent, null);
    assertEquals(2, value(fixed).asInt());
    assertEquals(3, fixed.path("execution").path("agent_revision").asInt());
  }

  @Test
  void aBuildsLogIsThereAsPageAsTextAndLive(Client client) {
    JsonNode agent = client.createAgent("def main(): pass", "requirements", "certifi==2024.8.30");
    String id = agent.path("latest_builder_job_id").asText();
    List<String> live;
    try (Stream<String> lines =
        client.lines("/v1/builder-jobs/" + id + "/logs", "Accept", "text/event-stream")) {
      live = lines.takeWhile(line -> !line.startsWith("event:end")).toList();
    }
    assertEquals("succeeded", state(client.built(id)));
    List<String> messages = client.messages(id);
    assertTrue(messages.stream().anyMatch(line -> line.contains("certifi")), messages::toString);
    assertEquals(
        messages,
        live.stream()
            .filter(line -> line.startsWith("data:"))
            .map(line -> HttpAnswer.parse(line.substring(5)).path("message").asText())
            .toList());
    String text =
        client.get("/v1/builder-jobs/" + id + "/logs", "Accept", "text/plain").expect(200).text();
    assertEquals(String.join("\n", messages) + "\n", text);
  }

  private static JsonNode builderJob(Client client, JsonNode agent) {
    String id = agent.path("latest_builder_job_id").asText();
    return client.get("/v1/builder-jobs/" + id).expect(200).json();
  }

  private static JsonNode value(JsonNode job) {
    return job.path("execution").path("return_value");
  }

  private static String state(JsonNode job) {
    return job.path("state").asText();
  }
}
