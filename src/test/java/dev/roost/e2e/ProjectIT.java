package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Agents whose script is one of many files. */
@EveryRuntime
class ProjectIT {
  private static final String MAIN =
      """
      from pathlib import Path

      import helpers
      from shop import prices
      from shop.discounts import half

      ROOT = Path(__file__).parent.parent

      def written(path):
          try:
              path.write_text("changed")
          except OSError:
              return False
          return True

      def main(request):
          if request.payload == "fail":
              prices.of("nothing")
          with open("data/prices.csv") as beside:
              assert beside.read() == (ROOT / "data/prices.csv").read_text()
          Path("own.txt").write_text("own")
          tries = [ROOT / "shop/prices.py", ROOT / "new.py", Path("data/new.csv")]
          return {
              "price": half(prices.of("tea")),
              "greeting": helpers.greeting(),
              "file": Path(__file__).relative_to(ROOT).as_posix(),
              "name": __name__,
              "written": [written(path) for path in tries],
              "lists": sorted(path.name for path in Path.cwd().iterdir()),
          }
      """;

  private static final Map<String, String> FILES =
      Map.of(
          "src/main.py", MAIN,
          "src/helpers.py", "def greeting():\n    return 'hello'\n",
          "shop/__init__.py", "",
          "shop/prices.py",
              """
              from importlib.resources import files

              LINES = files("shop").joinpath("../data/prices.csv").read_text().splitlines()
              PRICES = dict(line.split(",") for line in LINES)

              def of(name):
                  return int(PRICES[name])
              """,
          "shop/discounts.py", "from . import prices\n\ndef half(price):\n    return price / 2\n",
          "data/prices.csv", "tea,5\ncake,7\n");

  private static S3Server storage;
  private static RoostProcess roost;
  private static Client client;

  @BeforeAll
  static void start() {
    storage = new S3Server();
    roost = RoostProcess.started(storage.settings());
    client = roost.client();
  }

  @AfterAll
  static void stop() {
    if (roost != null) {
      roost.close();
    }
    storage.close();
  }

  @Test
  void aScriptImportsAndReadsTheFilesAroundItAndCannotChangeThem() throws Exception {
    String agent = agent(bundle(FILES));
    JsonNode first = execute(agent, "null").path("return_value");
    assertEquals(2.5, first.path("price").asDouble(), first::toString);
    assertEquals("hello", first.path("greeting").asText());
    assertEquals("src/main.py", first.path("file").asText());
    assertEquals("main", first.path("name").asText());
    assertEquals("[false,false,false]", first.path("written").toString());
    assertEquals("[\"data\",\"own.txt\",\"shop\",\"src\"]", first.path("lists").toString());
    assertEquals(first, execute(agent, "null").path("return_value"), "the second time");
  }

  @Test
  void aFailureNamesTheFileOfTheProject() throws Exception {
    JsonNode failed = execute(agent(bundle(FILES)), "\"fail\"");
    assertEquals("failed", failed.path("state").asText());
    String traceback = failed.at("/error/traceback").asText();
    assertTrue(traceback.contains("File \"shop/prices.py\", line 7, in of"), traceback);
    assertTrue(traceback.contains("File \"src/main.py\""), traceback);
    assertTrue(traceback.endsWith("KeyError: 'nothing'"), traceback);
  }

  @Test
  void aChangeSendsWhatIsNewAndIsRolledBack() throws Exception {
    JsonNode bundle = bundle(FILES);
    String agent = agent(bundle);
    byte[] changed = "tea,9\n".getBytes(StandardCharsets.UTF_8);
    String request =
        "{\"base\": \"%s\", \"pack\": \"%s\", \"files\": [%s, %s], \"removed\": [\"src/helpers.py\"]}"
            .formatted(
                bundle.path("id").asText(),
                FileUpload.send(roost, "pack", changed),
                entry("data/prices.csv", changed),
                // Moved: its bytes are there.
                entry("helpers.py", FILES.get("src/helpers.py").getBytes(StandardCharsets.UTF_8)));
    JsonNode next = client.post("/v1/bundles", request).expect(201).json();
    assertEquals(6, next.path("files").asInt(), next::toString);
    client.change(agent, "bundle_id", next.path("id").asText());
    JsonNode after = execute(agent, "null").path("return_value");
    assertEquals(4.5, after.path("price").asDouble(), after::toString);
    assertEquals("hello", after.path("greeting").asText());
    client.post("/v1/agents/" + agent + "/roll-back", "{\"revision\": 1}").expect(200);
    assertEquals(2.5, execute(agent, "null").at("/return_value/price").asDouble());
  }

  @Test
  void aChangeOfTheScriptKeepsTheOtherFiles() throws Exception {
    String agent = agent(bundle(FILES));
    client.change(
        agent,
        "script",
        "from shop import prices\n\ndef main(request):\n    return [prices.of('cake'), __file__]\n");
    JsonNode value = execute(agent, "null").path("return_value");
    assertEquals(7, value.path(0).asInt(), value::toString);
    assertTrue(value.path(1).asText().endsWith("/src/main.py"), value::toString);
    String draft = "{\"script\": \"import shop\\ndef main():\\n    return shop.__name__\\n\"}";
    JsonNode ended =
        client.post("/v1/agents/" + agent + "/execute-draft?wait=60", draft).expect(201).json();
    assertEquals("\"shop\"", ended.at("/execution/return_value").toString(), ended::toString);
  }

  @Test
  void executorsFetchALargeProjectWhateverIsKilledMeanwhile() throws Exception {
    byte[] data = new byte[40 << 20];
    new Random(1).nextBytes(data);
    byte[] script =
        """
        import hashlib
        from pathlib import Path

        def main():
            return hashlib.sha256(Path("data.bin").read_bytes()).hexdigest()
        """
            .getBytes(StandardCharsets.UTF_8);
    Map<String, byte[]> files = new LinkedHashMap<>();
    files.put("main.py", script);
    files.put("data.bin", data);
    String body =
        "{\"bundle_id\": \"%s\", \"script_path\": \"main.py\", \"max_attempts\": 3}"
            .formatted(create(files).path("id").asText());
    String agent = client.post("/v1/agents", body).expect(201).json().path("id").asText();
    client.built(client.get("/v1/agents/" + agent).json().path("latest_builder_job_id").asText());
    String job = client.submit(agent, "null");
    Eventually.until(
        "it is fetched", () -> client.job(job).path("state").asText().equals("running"));
    roost.kill9();
    roost.start();
    JsonNode ended = client.ended(job, Duration.ofMinutes(3));
    assertEquals(
        '"' + FileUpload.digest(data) + '"',
        ended.at("/execution/return_value").toString(),
        ended::toString);
  }

  private static JsonNode execute(String agent, String payload) {
    return client.execute(agent, payload).path("execution");
  }

  private static JsonNode bundle(Map<String, String> texts)
      throws IOException, InterruptedException {
    Map<String, byte[]> files = new LinkedHashMap<>();
    texts.forEach((path, text) -> files.put(path, text.getBytes(StandardCharsets.UTF_8)));
    return create(files);
  }

  private static JsonNode create(Map<String, byte[]> files)
      throws IOException, InterruptedException {
    ByteArrayOutputStream pack = new ByteArrayOutputStream();
    List<String> entries = new ArrayList<>();
    files.forEach(
        (path, bytes) -> {
          pack.writeBytes(bytes);
          entries.add(entry(path, bytes));
        });
    String request =
        "{\"pack\": \"%s\", \"files\": [%s]}"
            .formatted(
                FileUpload.send(roost, "pack", pack.toByteArray()), String.join(", ", entries));
    return client.post("/v1/bundles", request).expect(201).json();
  }

  private static String entry(String path, byte[] bytes) {
    return "{\"path\": \"%s\", \"size_bytes\": %d, \"sha256\": \"%s\"}"
        .formatted(path, bytes.length, FileUpload.digest(bytes));
  }

  private static String agent(JsonNode bundle) {
    String body =
        "{\"bundle_id\": \"%s\", \"script_path\": \"src/main.py\"}"
            .formatted(bundle.path("id").asText());
    return client.post("/v1/agents", body).expect(201).json().path("id").asText();
  }
}
