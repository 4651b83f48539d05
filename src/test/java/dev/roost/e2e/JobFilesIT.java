package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Scripts that read and make files. */
@EveryRuntime
class JobFilesIT {
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private static final String REVERSE =
      """
      import hashlib

      def main(request):
          data = request.files["data"].read_bytes()
          print(request.files["data"].name, sorted(request.files))
          request.artifact(data[::-1], name="reversed.bin")
          with open("table.csv", "w") as file:
              file.write("a,b\\n1,2\\n")
          request.artifact("table.csv")
          request.artifact(b"", name="empty")
          return [hashlib.sha256(data).hexdigest(), len(request.files["none"].read_bytes())]
      """;

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

  private static HttpResponse<byte[]> download(RoostProcess roost, String id, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = FileUpload.request(roost, "/v1/files/" + id + "/content");
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HTTP.send(request.build(), BodyHandlers.ofByteArray());
  }

  @Test
  void aScriptReadsFilesAndMakesSome() throws Exception {
    readAndMake(roost);
    assertTrue(storage.objects().contains("<Key>roost/file_"), storage.objects());
  }

  @Test
  void largePayloadsAndReturnValuesAreFiles() throws Exception {
    String agent = client.agent("def main(request):\n    return request.payload[::-1]\n");
    List<Integer> numbers = IntStream.range(100_000, 180_000).boxed().toList();
    List<Integer> reversed = new ArrayList<>(numbers);
    Collections.reverse(reversed);
    String job = client.submit(agent, numbers.toString());
    JsonNode ended = client.ended(job);
    assertEquals(
        reversed.toString().replace(" ", ""), ended.at("/execution/return_value").toString());
    JsonNode files =
        client.get("/v1/executor-jobs/" + job + "/files").expect(200).json().path("data");
    assertEquals(
        "[\"payload\",\"return_value\"]", files.findValues("kind").toString().replace(" ", ""));
    assertEquals(
        numbers.toString(), new String(download(roost, files.at("/0/file/id").asText()).body()));
    assertTrue(storage.objects().contains(files.at("/1/file/id").asText() + "/0"));
  }

  @Test
  void aScriptPassesFilesOnToTheAgentsThatItCalls() {
    String callee =
        client.agent(
            """
            def main(request):
                text = {name: path.read_text() for name, path in request.files.items()}
                return [text, request.artifact("".join(text.values()).encode(), name="all.txt")]
            """);
    String caller =
        client.agent(
            """
            def main(request):
                made = request.artifact(b"made", name="made.txt")
                texts, all = request.call(request.payload, files={"a": made, "b": b"bytes"})
                return [texts, request.call(request.payload, files={"all": all})[0]]
            """);
    JsonNode ended = client.ended(client.submit(caller, '"' + callee + '"'));
    assertEquals(
        "[{\"a\":\"made\",\"b\":\"bytes\"},{\"all\":\"madebytes\"}]",
        ended.at("/execution/return_value").toString(),
        ended::toString);
  }

  @LocalOnly("on Kubernetes, a directory is a volume that all replicas share")
  @Test
  void filesAreInTheDataDirectoryWithoutABucket() throws Exception {
    try (RoostProcess other = RoostProcess.started()) {
      readAndMake(other);
    }
  }

  @Test
  void whatAScriptMakesOutlastsThatTheStorageAndTheControlPlaneAreAway() throws Exception {
    String agent =
        client.agent(
            """
            def main(request):
                request.wait_for_event("go")
                request.artifact(bytes(9_000_000), name="zeros")
                return "stored"
            """);
    String job = client.submit(agent, "null");
    Eventually.until(
        "the job waits", () -> client.job(job).path("waiting_on").asText().equals("event"));
    String upload =
        client.post("/v1/files", "{\"name\": \"a\"}").expect(201).json().path("id").asText();
    storage.close();
    HttpResponse<String> refused =
        HTTP.send(
            FileUpload.request(roost, "/v1/files/" + upload + "/parts/0")
                .PUT(BodyPublishers.ofByteArray(new byte[1]))
                .build(),
            BodyHandlers.ofString());
    assertEquals(503, refused.statusCode(), refused.body());
    assertTrue(refused.headers().firstValue("Retry-After").isPresent());
    assertFalse(refused.body().contains("127.0.0.1"), "the error names the storage's address");
    client.post("/v1/executor-jobs/" + job + "/events", "{\"name\": \"go\"}").expect(201);
    Eventually.until(
        "the script runs again", () -> client.job(job).path("state").asText().equals("running"));
    Thread.sleep(3_000); // It has sent its first part a few times by now.
    roost.kill9();
    storage.start();
    roost.start();
    JsonNode ended = client.ended(job);
    assertEquals("\"stored\"", ended.at("/execution/return_value").toString(), ended::toString);
    JsonNode files =
        client.get("/v1/executor-jobs/" + job + "/files").expect(200).json().path("data");
    assertEquals(1, files.size(), files::toString);
    byte[] found = download(roost, files.at("/0/file/id").asText()).body();
    assertArrayEquals(new byte[9_000_000], found);
  }

  private static void readAndMake(RoostProcess roost) throws Exception {
    Client client = roost.client();
    byte[] data = new byte[2 * FileUpload.PART_BYTES + 12_345];
    new Random(1).nextBytes(data);
    String id = FileUpload.send(roost, "data.bin", data);
    String empty = FileUpload.send(roost, "none.txt", new byte[0]);
    String agent = client.agent(REVERSE);
    String body =
        "{\"payload\": null, \"files\": {\"data\": \"%s\", \"none\": \"%s\"}}".formatted(id, empty);
    String job =
        client
            .post("/v1/agents/" + agent + "/execute", body)
            .expect(201)
            .json()
            .path("id")
            .asText();
    JsonNode ended = client.ended(job);
    assertEquals(
        "[\"%s\",0]".formatted(FileUpload.digest(data)),
        ended.at("/execution/return_value").toString(),
        ended::toString);
    JsonNode files =
        client.get("/v1/executor-jobs/" + job + "/files").expect(200).json().path("data");
    assertEquals(5, files.size(), files::toString);
    JsonNode reversed = named(files, "reversed.bin");
    assertEquals("artifact", reversed.path("kind").asText());
    HttpResponse<byte[]> whole = download(roost, reversed.at("/file/id").asText());
    assertEquals(200, whole.statusCode());
    byte[] expected = new byte[data.length];
    for (int i = 0; i < data.length; i++) {
      expected[i] = data[data.length - 1 - i];
    }
    assertArrayEquals(expected, whole.body());
    assertEquals(FileUpload.digest(expected), reversed.at("/file/sha256").asText());
    HttpResponse<byte[]> range =
        download(roost, reversed.at("/file/id").asText(), "Range", "bytes=4194300-4194310");
    assertEquals(206, range.statusCode());
    assertArrayEquals(Arrays.copyOfRange(expected, 4194300, 4194311), range.body());
    JsonNode table = named(files, "table.csv");
    assertEquals("text/csv", table.at("/file/content_type").asText());
    assertEquals("a,b\n1,2\n", new String(download(roost, table.at("/file/id").asText()).body()));
    assertEquals(0, download(roost, named(files, "empty").at("/file/id").asText()).body().length);
  }

  private static JsonNode named(JsonNode files, String name) {
    for (JsonNode file : files) {
      if (file.path("name").asText().equals(name)) {
        return file;
      }
    }
    throw new AssertionError(name + " is not in " + files);
  }
}
