package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.Api;
import dev.roost.FollowerDatabase;
import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.Role;
import dev.roost.db.ThrottledBatches;
import dev.roost.execution.FileOperations;
import dev.roost.execution.OldExecutorJobs;
import dev.roost.file.Files;
import dev.roost.file.OldFiles;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files that clients upload, and that scripts read and make. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class JobFilesOperationsIT extends RunningExecution {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int PART_BYTES = 4 << 20;

  @Inject FileOperations operations;
  @Inject Files files;

  @ConfigProperty(name = "quarkus.http.test-port")
  int port;

  @SuppressWarnings("unchecked")
  private Map<String, Object> run(Object... fields) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < fields.length; i += 2) {
      map.put((String) fields[i], fields[i + 1]);
    }
    byte[] body = mapper.valueToTree(map).toString().getBytes(StandardCharsets.UTF_8);
    return (Map<String, Object>) operations.run(executor, execution, Body.parse(body));
  }

  private static String digest(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  private String artifact(String name, byte[] bytes) throws Exception {
    String id =
        (String) run("op", "create_artifact", "name", name, "content_type", "a/b").get("id");
    if (bytes.length > 0) {
      run("op", "artifact_part", "id", id, "part", 0, "data", base64(bytes));
    }
    run("op", "complete_artifact", "id", id, "size_bytes", bytes.length, "sha256", digest(bytes));
    return id;
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private List<Object> listed(String path) {
    return api.get("/v1/executor-jobs/" + job + "/files").get("data" + path);
  }

  private HttpResponse<byte[]> http(String method, String path, byte[] body, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("Authorization", "Bearer " + api.key())
            .method(
                method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HTTP.send(request.build(), BodyHandlers.ofByteArray());
  }

  private String uploaded(String name, byte[] bytes) throws Exception {
    String id = api.post("/v1/files", "{\"name\": \"%s\"}".formatted(name)).get("id");
    assertEquals(200, http("PUT", "/v1/files/" + id + "/parts/0", bytes).statusCode());
    Api.Answer whole = complete(id, bytes);
    assertEquals("stored", whole.get("state"));
    return id;
  }

  private Api.Answer complete(String id, byte[] bytes) throws Exception {
    return api.post(
        "/v1/files/" + id + "/complete",
        "{\"size_bytes\": %d, \"sha256\": \"%s\"}".formatted(bytes.length, digest(bytes)));
  }

  @Test
  void anArtifactReplacesTheOneWithItsName() throws Exception {
    String first = artifact("a", new byte[] {1});
    assertEquals(List.of(first), listed(".file.id"));
    String second = artifact("a", new byte[] {2, 3});
    String other = artifact("b", new byte[0]);
    assertEquals(List.of(second, other), listed(".file.id"));
    assertEquals(List.of("artifact", "artifact"), listed(".kind"));
    assertArrayEquals(
        new byte[] {2, 3}, http("GET", "/v1/files/" + second + "/content", null).body());
  }

  @Test
  void aPartThatIsSentAgainReplacesItselfAndNoneIsLeftOut() throws Exception {
    String id = (String) run("op", "create_artifact", "name", "n").get("id");
    Problem gap =
        assertThrows(
            Problem.class,
            () -> run("op", "artifact_part", "id", id, "part", 1, "data", base64(new byte[1])));
    assertEquals(ErrorCode.CONFLICT, gap.code());
    byte[] whole = new byte[PART_BYTES];
    run("op", "artifact_part", "id", id, "part", 0, "data", base64(whole));
    whole[7] = 1;
    run("op", "artifact_part", "id", id, "part", 0, "data", base64(whole));
    run("op", "artifact_part", "id", id, "part", 1, "data", base64(new byte[] {9}));
    Problem afterTheLast =
        assertThrows(
            Problem.class,
            () -> run("op", "artifact_part", "id", id, "part", 2, "data", base64(new byte[1])));
    assertEquals(ErrorCode.CONFLICT, afterTheLast.code());
    assertEquals(409, complete409(id, PART_BYTES));
    run(
        "op",
        "complete_artifact",
        "id",
        id,
        "size_bytes",
        PART_BYTES + 1,
        "sha256",
        "0".repeat(64));
    byte[] found = http("GET", "/v1/files/" + id + "/content", null, "Range", "bytes=7-7").body();
    assertArrayEquals(new byte[] {1}, found);
    assertArrayEquals(
        new byte[] {9},
        http("GET", "/v1/files/" + id + "/content", null, "Range", "bytes=-1").body());
    HttpResponse<byte[]> beyond =
        http("GET", "/v1/files/" + id + "/content", null, "Range", "bytes=99999999-");
    assertEquals(416, beyond.statusCode());
  }

  private int complete409(String id, int size) {
    return assertThrows(
            Problem.class,
            () ->
                run(
                    "op",
                    "complete_artifact",
                    "id",
                    id,
                    "size_bytes",
                    size,
                    "sha256",
                    "0".repeat(64)))
        .code()
        .status();
  }

  @Test
  void whatAnotherHasBegunIsNobodyElses() throws Exception {
    String artifact = (String) run("op", "create_artifact", "name", "n").get("id");
    assertEquals(404, http("PUT", "/v1/files/" + artifact + "/parts/0", new byte[1]).statusCode());
    String upload = api.post("/v1/files", "{\"name\": \"u\"}").get("id");
    Problem notOurs =
        assertThrows(
            Problem.class,
            () -> run("op", "artifact_part", "id", upload, "part", 0, "data", base64(new byte[1])));
    assertEquals(ErrorCode.NOT_FOUND, notOurs.code());
    assertEquals(409, http("GET", "/v1/files/" + upload + "/content", null).statusCode());
  }

  @Test
  void aJobReadsItsFilesAndNoOthers() throws Exception {
    byte[] bytes = "a,b".getBytes(StandardCharsets.UTF_8);
    String id = uploaded("orders.csv", bytes);
    rows.run(
        "insert into job_file (executor_job_id, kind, name, file_id, created_at) values (?, 'input', 'orders', ?, now())",
        job,
        id);
    Map<String, Object> read = run("op", "read_file", "name", "orders", "part", 0);
    assertEquals(Map.of("data", base64(bytes), "last", true), read);
    for (Object[] wrong : List.of(new Object[] {"orders", 1}, new Object[] {"others", 0})) {
      Problem problem =
          assertThrows(
              Problem.class, () -> run("op", "read_file", "name", wrong[0], "part", wrong[1]));
      assertEquals(ErrorCode.VALIDATION_FAILED, problem.code());
    }
  }

  @Test
  void filesAreSubmittedWithTheirJobs() throws Exception {
    String id = uploaded("orders.csv", new byte[] {1});
    String body = "{\"files\": {\"orders\": \"%s\", \"same\": \"%s\"}}".formatted(id, id);
    String submitted = api.post("/v1/agents/" + agent + "/execute", body).get("id");
    assertEquals(
        List.of("orders", "same"),
        api.get("/v1/executor-jobs/" + submitted + "/files").get("data.name"));
    String batch = "{\"payloads\": [1, 2], \"files\": {\"orders\": \"%s\"}}".formatted(id);
    List<String> jobs =
        api.post("/v1/agents/" + agent + "/execute-batch", batch).get("executor_job_ids");
    for (String each : jobs) {
      assertEquals(
          List.of(id), api.get("/v1/executor-jobs/" + each + "/files").get("data.file.id"));
    }
    String missing = "{\"files\": {\"a\": \"%s\", \"b\": \"file_1\"}}".formatted(id);
    for (String path : List.of("/execute", "/execute-batch")) {
      String wrong =
          path.equals("/execute") ? missing : "{\"payloads\": [1], " + missing.substring(1);
      Api.Answer refused = api.send("POST", "/v1/agents/" + agent + path, wrong);
      assertEquals(422, refused.status(), refused.text());
      assertEquals(List.of("/files/b"), refused.get("errors.pointer"));
    }
  }

  @Test
  void aFileComesInItsOwnTypeWhateverIsAccepted() throws Exception {
    byte[] json = "[1]".getBytes(StandardCharsets.UTF_8);
    String id =
        api.post("/v1/files", "{\"name\": \"ü.json\", \"content_type\": \"application/json\"}")
            .get("id");
    assertEquals(200, http("PUT", "/v1/files/" + id + "/parts/0", json).statusCode());
    Api.Answer whole = api.post("/v1/files/" + id + "/complete", "{\"size_bytes\": 3}");
    assertEquals("stored", whole.get("state"), whole.text());
    assertEquals(200, api.post("/v1/files/" + id + "/complete", "{\"size_bytes\": 3}").status());
    String path = "/v1/files/" + id + "/content";
    for (String accept : List.of("*/*", "application/json", "text/csv")) {
      HttpResponse<byte[]> found = http("GET", path, null, "Accept", accept);
      assertArrayEquals(json, found.body(), accept);
      assertEquals("application/json", found.headers().firstValue("Content-Type").orElseThrow());
      assertEquals(
          "attachment; filename*=UTF-8''%C3%BC.json",
          found.headers().firstValue("Content-Disposition").orElseThrow());
    }
    HttpResponse<byte[]> head = http("HEAD", path, null);
    assertEquals("3", head.headers().firstValue("Content-Length").orElseThrow());
    String tag = head.headers().firstValue("ETag").orElseThrow();
    assertEquals(206, http("GET", path, null, "Range", "bytes=1-", "If-Range", tag).statusCode());
    assertEquals(
        200, http("GET", path, null, "Range", "bytes=1-", "If-Range", "\"x\"").statusCode());
  }

  @Test
  void noPageCanLoadAFileAsAScriptOrAStyle() throws Exception {
    for (String type :
        List.of(
            "text/javascript",
            "Application/JavaScript;charset=utf-8",
            "text/css",
            "text/jscript")) {
      String created = "{\"name\": \"a\", \"content_type\": \"%s\"}".formatted(type);
      String id = api.post("/v1/files", created).get("id");
      assertEquals(200, http("PUT", "/v1/files/" + id + "/parts/0", new byte[1]).statusCode());
      api.post("/v1/files/" + id + "/complete", "{\"size_bytes\": 1}");
      String link = api.post("/v1/files/" + id + "/links", "{}").get("url");
      HttpResponse<byte[]> found = withoutKey(link);
      assertEquals("text/plain", found.headers().firstValue("Content-Type").orElseThrow(), type);
      assertEquals("nosniff", found.headers().firstValue("X-Content-Type-Options").orElseThrow());
    }
  }

  @Test
  void aLinkDownloadsItsFileUntilItEnds() throws Exception {
    String id = uploaded("a.bin", new byte[] {1, 2});
    Api reader = Api.as(Role.READ);
    Api.Answer link = reader.send("POST", "/v1/files/" + id + "/links", "{\"expires_in\": 2}");
    assertEquals(201, link.status(), link.text());
    String url = link.get("url");
    HttpResponse<byte[]> found = withoutKey(url);
    assertEquals(200, found.statusCode());
    assertArrayEquals(new byte[] {1, 2}, found.body());
    String later = url.replaceFirst("expires=\\d+", "expires=99999999999");
    String other = url.replace(id, uploaded("b.bin", new byte[] {3}));
    String forged = url.substring(0, url.length() - 1) + (url.endsWith("0") ? "1" : "0");
    String unsigned = url.substring(0, url.indexOf("&signature"));
    for (String wrong : List.of(later, other, forged, unsigned, unsigned + "&signature=ü")) {
      assertEquals(404, withoutKey(wrong.replace("ü", "%C3%BC")).statusCode(), wrong);
    }
    while (withoutKey(url).statusCode() == 200) {
      Thread.sleep(100);
    }
    assertEquals(404, withoutKey(url).statusCode());
    for (String seconds : List.of("0", "604801")) {
      String body = "{\"expires_in\": %s}".formatted(seconds);
      assertEquals(422, api.send("POST", "/v1/files/" + id + "/links", body).status());
    }
  }

  private HttpResponse<byte[]> withoutKey(String path) throws Exception {
    return HTTP.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
        BodyHandlers.ofByteArray());
  }

  @Test
  void badRequestsAreRefusedWithTheirReasons() throws Exception {
    for (String name : List.of("", "a/b", "..", "x".repeat(256))) {
      Api.Answer refused =
          api.send("POST", "/v1/files", mapper.createObjectNode().put("name", name).toString());
      assertEquals(422, refused.status(), refused.text());
    }
    Api.Answer type =
        api.send("POST", "/v1/files", "{\"name\": \"a\", \"content_type\": \"text\"}");
    assertEquals(List.of("/content_type"), type.get("errors.pointer"));
    String id = api.post("/v1/files", "{\"name\": \"a\"}").get("id");
    HttpResponse<byte[]> large =
        http("PUT", "/v1/files/" + id + "/parts/0", new byte[PART_BYTES + 1]);
    assertEquals(413, large.statusCode());
  }

  @Test
  void whatNoJobRefersToIsRemoved() throws Exception {
    String unused = uploaded("unused", new byte[] {1});
    String used = artifact("used", new byte[] {2});
    rows.run(
        "update file set used_at = now() - interval '2 days' where id in (?, ?)", unused, used);
    ThrottledBatches batches = new ThrottledBatches(database, () -> true);
    Instant yesterday = Instant.now().minus(Duration.ofDays(1));
    OldFiles.remove(batches, yesterday, files);
    assertEquals(404, http("GET", "/v1/files/" + unused, null).statusCode());
    assertEquals(200, http("GET", "/v1/files/" + used + "/content", null).statusCode());
    rows.run(
        "update executor_job set state = 'failed', finished_at = '2001-01-01' where id = ?", job);
    rows.run("delete from execution where executor_job_id = ?", job);
    OldExecutorJobs.remove(batches, Instant.now().plus(Duration.ofDays(1)));
    OldFiles.remove(batches, yesterday, files);
    assertEquals(404, http("GET", "/v1/files/" + used, null).statusCode());
  }
}
