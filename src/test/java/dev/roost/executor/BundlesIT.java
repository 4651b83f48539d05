package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.api.Text;
import dev.roost.bundle.OldBundles;
import dev.roost.db.Database;
import dev.roost.db.ThrottledBatches;
import dev.roost.file.Files;
import dev.roost.file.OldFiles;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import jakarta.inject.Inject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The files of agents' projects: from their upload to the executors that fetch them. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(180)
class BundlesIT {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Path DIRECTORY = Path.of("target", "files").toAbsolutePath();
  private static final int PART_BYTES = 4 << 20;
  private static final String MAIN = "from pkg import one\n\ndef main():\n    return one.VALUE\n";
  private static final Instant LATER = Instant.parse("2002-01-01T00:00:00Z");

  @Inject Database database;
  @Inject DataSource dataSource;
  @Inject Files files;
  @Inject ExecutorTokens tokens;
  @Inject ObjectMapper mapper;

  private Rows rows;
  private Api api;

  @BeforeEach
  void prepare() {
    rows = new Rows(database);
    api = Api.as(Role.WRITE);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String digest(byte[] bytes) {
    return HexFormat.of().formatHex(Text.sha256(bytes));
  }

  private HttpResponse<byte[]> http(String method, String path, byte[] body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + RestAssured.port + path))
            .header("Authorization", "Bearer " + api.key())
            .method(
                method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body))
            .build();
    try {
      return HTTP.send(request, BodyHandlers.ofByteArray());
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private String pack(byte[]... contents) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Arrays.stream(contents).forEach(all::writeBytes);
    byte[] whole = all.toByteArray();
    String id = api.post("/v1/files", "{\"name\": \"pack\"}").get("id");
    for (int part = 0; part * PART_BYTES < whole.length; part++) {
      int end = Math.min(whole.length, (part + 1) * PART_BYTES);
      byte[] bytes = Arrays.copyOfRange(whole, part * PART_BYTES, end);
      assertEquals(200, http("PUT", "/v1/files/" + id + "/parts/" + part, bytes).statusCode());
    }
    Answer complete =
        api.post("/v1/files/" + id + "/complete", "{\"size_bytes\": %d}".formatted(whole.length));
    assertEquals(200, complete.status(), complete.text());
    return id;
  }

  private static Map<String, Object> entry(String path, byte[] content) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("path", path);
    entry.put("size_bytes", content.length);
    entry.put("sha256", digest(content));
    return entry;
  }

  private Answer request(String base, String pack, List<?> entries, List<String> removed) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("base", base);
    body.put("pack", pack);
    body.put("files", entries);
    body.put("removed", removed);
    return api.post("/v1/bundles", mapper.valueToTree(body).toString());
  }

  private Answer created(String base, String pack, List<?> entries, List<String> removed) {
    Answer answer = request(base, pack, entries, removed);
    assertEquals(201, answer.status(), answer.text());
    return answer;
  }

  /** With a script, a module and an empty file. */
  private String project() {
    return created(
            null,
            pack(bytes(MAIN), bytes("VALUE = 1\n")),
            List.of(
                entry("src/main.py", bytes(MAIN)),
                entry("src/pkg/one.py", bytes("VALUE = 1\n")),
                entry("src/pkg/__init__.py", new byte[0])),
            List.of())
        .get("id");
  }

  private byte[] content(String bundle, String path) {
    String encoded = URLEncoder.encode(path, StandardCharsets.UTF_8);
    HttpResponse<byte[]> answer =
        http("GET", "/v1/bundles/" + bundle + "/content?path=" + encoded, null);
    assertEquals(200, answer.statusCode(), () -> new String(answer.body(), StandardCharsets.UTF_8));
    assertEquals("nosniff", answer.headers().firstValue("X-Content-Type-Options").orElseThrow());
    assertEquals(
        "application/octet-stream", answer.headers().firstValue("Content-Type").orElseThrow());
    assertTrue(
        answer.headers().firstValue("Content-Disposition").orElseThrow().startsWith("attachment"));
    assertEquals(
        answer.body().length, answer.headers().firstValueAsLong("Content-Length").orElseThrow());
    return answer.body();
  }

  private Answer newAgent(String bundle, String path) {
    return api.post(
        "/v1/agents", "{\"bundle_id\": \"%s\", \"script_path\": \"%s\"}".formatted(bundle, path));
  }

  private static void assertRefused(String pointer, Answer answer) {
    assertEquals(422, answer.status(), answer.text());
    assertTrue(answer.<List<String>>get("errors.pointer").contains(pointer), answer.text());
  }

  private Answer change(String agent, String json) {
    return api.patch("/v1/agents/" + agent, json);
  }

  @Test
  void aProjectBecomesABundle() {
    byte[] main = bytes(MAIN);
    byte[] large = new byte[PART_BYTES + 77];
    new Random(7).nextBytes(large);
    Map<String, Object> program = entry("bin/run", main);
    program.put("executable", true);
    Answer bundle =
        created(
            null,
            pack(main, large),
            List.of(entry("src/main.py", main), program, entry("ä\uD83E\uDEB6.bin", large)),
            List.of());
    String id = bundle.get("id");
    assertEquals("/v1/bundles/" + id, URI.create(bundle.header("Location")).getPath());
    assertEquals(Integer.valueOf(3), bundle.get("files"));
    assertEquals(Integer.valueOf(2 * main.length + large.length), bundle.get("size_bytes"));
    assertEquals(Integer.valueOf(1), bundle.get("packs"));
    assertEquals(Integer.valueOf(main.length + large.length), bundle.get("stored_bytes"));
    String lines =
        "%s x bin/run\n%s - src/main.py\n%s - ä\uD83E\uDEB6.bin\n"
            .formatted(digest(main), digest(main), digest(large));
    assertEquals(digest(bytes(lines)), bundle.get("sha256"));
    assertEquals(bundle.text(), api.get("/v1/bundles/" + id).text());
    Answer manifest = api.get("/v1/bundles/" + id + "/manifest");
    assertEquals(
        List.of("bin/run", "src/main.py", "ä\uD83E\uDEB6.bin"), manifest.get("files.path"));
    assertEquals(List.of(true, false, false), manifest.get("files.executable"));
    assertArrayEquals(main, content(id, "bin/run"));
    assertArrayEquals(large, content(id, "ä\uD83E\uDEB6.bin"));
    assertEquals(404, api.get("/v1/bundles/" + id + "/content?path=nothing").status());
    assertEquals(422, api.get("/v1/bundles/" + id + "/content").status());
    assertEquals(404, api.get("/v1/bundles/bundle_1").status());
    assertEquals(404, api.get("/v1/bundles/bundle_1/manifest").status());
    assertEquals(404, api.get("/v1/bundles/bundle_1/content?path=a").status());
    HttpResponse<byte[]> head =
        http("HEAD", "/v1/bundles/" + id + "/content?path=src/main.py", null);
    assertEquals(main.length, head.headers().firstValueAsLong("Content-Length").orElseThrow());
    Answer part = api.get("/v1/bundles/" + id + "/content?path=src/main.py", "Range", "bytes=2-5");
    assertEquals(206, part.status(), part.text());
    assertEquals(MAIN.substring(2, 6), part.text());
    assertEquals("bytes 2-5/" + main.length, part.header("Content-Range"));
    assertEquals(
        416,
        api.get("/v1/bundles/" + id + "/content?path=src/main.py", "Range", "bytes=9999-")
            .status());
    assertEquals(403, Api.as(Role.READ).post("/v1/bundles", "{\"files\": []}").status());
    assertEquals(200, Api.as(Role.READ).get("/v1/bundles/" + id).status());
  }

  @Test
  void onlyWhatTheBaseLacksIsSent() {
    String first = project();
    assertArrayEquals(new byte[0], content(first, "src/pkg/__init__.py"));
    byte[] two = bytes("VALUE = 2\n");
    Answer second =
        created(
            first,
            pack(two),
            List.of(
                entry("src/pkg/two.py", two),
                entry("src/pkg/moved.py", bytes("VALUE = 1\n")),
                entry("src/pkg/copy.py", two)),
            List.of("src/pkg/one.py"));
    String id = second.get("id");
    assertEquals(Integer.valueOf(2), second.get("packs"));
    assertEquals(
        List.of(
            "src/main.py",
            "src/pkg/__init__.py",
            "src/pkg/copy.py",
            "src/pkg/moved.py",
            "src/pkg/two.py"),
        api.get("/v1/bundles/" + id + "/manifest").get("files.path"));
    assertArrayEquals(bytes("VALUE = 1\n"), content(id, "src/pkg/moved.py"));
    assertArrayEquals(two, content(id, "src/pkg/copy.py"));
    assertArrayEquals(bytes(MAIN), content(id, "src/main.py"));
    Answer third = created(id, null, List.of(), List.of("src/main.py", "src/pkg/moved.py"));
    assertEquals(Integer.valueOf(1), third.get("packs"));
    assertEquals(Integer.valueOf(two.length), third.get("stored_bytes"));
    assertArrayEquals(two, content(third.get("id"), "src/pkg/two.py"));
  }

  @Test
  void mistakesNameTheirPlace() {
    String base = project();
    byte[] one = bytes("1");
    String pack = pack(one);
    List<Map<String, Object>> entries = List.of(entry("a", one));
    assertRefused("/base", request("bundle_1", pack, entries, List.of()));
    assertRefused("/pack", request(null, "file_1", entries, List.of()));
    assertRefused("/pack", request(null, null, entries, List.of()));
    assertRefused("/pack", request(null, pack(bytes("12")), entries, List.of()));
    assertRefused("/pack", request(null, pack, List.of(), List.of()));
    assertRefused("/removed/1", request(base, pack, entries, List.of("src/main.py", "no")));
    assertRefused("/removed/0", request(null, pack, entries, List.of("src/main.py")));
    assertRefused("/files/0/path", request(base, pack, List.of(entry("src", one)), List.of()));
    assertRefused(
        "/files/0/path", request(base, pack, List.of(entry("src/main.py/a", one)), List.of()));
    assertRefused(
        "/files/1/path", request(null, pack, List.of(entry("a", one), entry("a", one)), List.of()));
    assertRefused(
        "/files/1/sha256",
        request(
            null,
            pack(one, bytes("2")),
            List.of(entry("a", one), entry("b", bytes("3"))),
            List.of()));
    for (String path :
        List.of("", "/a", "a/", "../a", "a/./b", "a\\b", "a\nb", "\0", "x".repeat(256))) {
      assertRefused("/files/0/path", request(null, pack, List.of(entry(path, one)), List.of()));
    }
    assertRefused("/files/0/path", request(null, pack, List.of(Map.of("path", 1)), List.of()));
    assertRefused("/files/0/sha256", request(null, pack, List.of(Map.of("path", "a")), List.of()));
    assertRefused("/files/0", request(null, pack, List.of("a"), List.of()));
    assertRefused("/files", api.post("/v1/bundles", "{}"));
    assertRefused("/files", api.post("/v1/bundles", "{\"files\": {}}"));
    String surrogate =
        "{\"files\": [{\"path\": \"\\ud83e\", \"size_bytes\": 0, \"sha256\": \"\"}]}";
    assertRefused("/files/0/path", api.post("/v1/bundles", surrogate));
    String negative = "{\"files\": [{\"path\": \"a\", \"size_bytes\": -1, \"sha256\": \"\"}]}";
    assertRefused("/files/0/size_bytes", api.post("/v1/bundles", negative));
    String incomplete = api.post("/v1/files", "{\"name\": \"pack\"}").get("id");
    assertRefused("/pack", request(null, incomplete, entries, List.of()));
    rows.run("update file set kept = true where id = ?", pack);
    assertRefused("/pack", request(null, pack, entries, List.of()));
  }

  @Test
  void limitsNameTheirSettings() {
    List<Map<String, Object>> many = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      many.add(entry("directory %d/%d".formatted(i % 100, i), new byte[0]));
    }
    Answer most = created(null, null, many, List.of());
    assertEquals(Integer.valueOf(20_000), most.get("files"));
    assertEquals(Integer.valueOf(0), most.get("packs"));
    assertEquals(
        20_000,
        api.get("/v1/bundles/" + most.get("id") + "/manifest").<List<?>>get("files").size());
    Answer more = request(most.get("id"), null, List.of(entry("one more", new byte[0])), List.of());
    assertEquals(413, more.status());
    assertTrue(more.<String>get("detail").contains("roost.limits.bundle-files"));
    many.add(entry("one more", new byte[0]));
    assertEquals(413, request(null, null, many, List.of()).status());
    Map<String, Object> large = entry("a", bytes("a"));
    large.put("size_bytes", 100 << 20);
    Map<String, Object> small = entry("b", bytes("b"));
    Answer tooLarge = request(null, null, List.of(large, small), List.of());
    assertEquals(413, tooLarge.status());
    assertTrue(tooLarge.<String>get("detail").contains("roost.limits.bundle-bytes"));
    large.put("size_bytes", Long.MAX_VALUE);
    assertEquals(413, request(null, null, List.of(large, large), List.of()).status());
  }

  @Test
  void anAgentHasTheScriptOfItsBundle() {
    String bundle = project();
    Answer agent = newAgent(bundle, "src/main.py");
    assertEquals(201, agent.status(), agent.text());
    String id = agent.get("id");
    assertEquals(MAIN, agent.get("script"));
    assertEquals(bundle, agent.get("bundle_id"));
    assertEquals("src/main.py", agent.get("script_path"));
    Answer other =
        change(
            id, "{\"bundle_id\": \"%s\", \"script_path\": \"src/pkg/one.py\"}".formatted(bundle));
    assertEquals("VALUE = 1\n", other.get("script"));
    assertEquals(Integer.valueOf(2), other.get("revision"));
    assertEquals(MAIN, change(id, "{\"script_path\": \"src/main.py\"}").get("script"));
    // The same again changes nothing.
    Answer same = change(id, "{\"bundle_id\": \"%s\"}".formatted(bundle));
    assertEquals(Integer.valueOf(3), same.get("revision"));
    Answer revision = api.get("/v1/agents/" + id + "/revisions/2");
    assertEquals("src/pkg/one.py", revision.get("script_path"));
    assertEquals(bundle, revision.get("bundle_id"));
    Answer without = change(id, "{\"bundle_id\": null}");
    assertNull(without.get("bundle_id"));
    assertNull(without.get("script_path"));
    assertEquals(MAIN, without.get("script"));
    assertEquals(Integer.valueOf(4), without.get("revision"));
    Answer back = api.post("/v1/agents/" + id + "/roll-back", "{\"revision\": 2}");
    assertEquals(bundle, back.get("bundle_id"));
    assertEquals("src/pkg/one.py", back.get("script_path"));
    assertEquals("VALUE = 1\n", back.get("script"));
    assertEquals(1, rows.count("builder_job where agent_id = ?", id));
    Answer plain = change(id, "{\"bundle_id\": null, \"script\": \"def main(): pass\"}");
    assertEquals("def main(): pass", plain.get("script"));
    assertRefused("/script_path", change(id, "{\"script_path\": \"a.py\"}"));
    assertEquals(200, change(id, "{\"script_path\": null, \"bundle_id\": null}").status());
  }

  @Test
  void aChangeOfTheScriptMakesAnotherBundle() {
    String bundle = project();
    String id = newAgent(bundle, "src/main.py").get("id");
    Answer changed = change(id, "{\"script\": \"def main(): return 'ä'\"}");
    String second = changed.get("bundle_id");
    assertNotEquals(bundle, second);
    assertEquals("src/main.py", changed.get("script_path"));
    assertEquals("def main(): return 'ä'", changed.get("script"));
    assertArrayEquals(bytes("def main(): return 'ä'"), content(second, "src/main.py"));
    assertArrayEquals(bytes("VALUE = 1\n"), content(second, "src/pkg/one.py"));
    assertArrayEquals(bytes(MAIN), content(bundle, "src/main.py"));
    assertEquals(second, change(id, "{\"script\": \"def main(): return 'ä'\"}").get("bundle_id"));
    for (int i = 0; i < 3; i++) {
      changed = change(id, "{\"script\": \"def main(): return %d\"}".formatted(i));
    }
    // The packs of earlier scripts aren't needed any more.
    assertEquals(
        Integer.valueOf(2), api.get("/v1/bundles/" + changed.get("bundle_id")).get("packs"));
    assertEquals("", change(id, "{\"script\": \"\"}").get("script"), "an empty file needs no pack");
    assertEquals(
        MAIN, api.post("/v1/agents/" + id + "/roll-back", "{\"revision\": 1}").get("script"));
    assertEquals(bundle, api.get("/v1/agents/" + id).get("bundle_id"));
  }

  @Test
  void whatDoesNotFitIsRefused() {
    byte[] latin = {(byte) 'a', (byte) 0xe4};
    byte[] large = new byte[(1 << 20) + 1];
    Arrays.fill(large, (byte) '\n');
    byte[] nul = {'a', 0};
    String bundle =
        created(
                null,
                pack(latin, large, nul),
                List.of(
                    entry("latin.py", latin),
                    entry("large.py", large),
                    entry("nul.py", nul),
                    entry("a.txt", latin)),
                List.of())
            .get("id");
    assertRefused("/script_path", newAgent(bundle, "latin.py"));
    assertRefused("/script_path", newAgent(bundle, "nul.py"));
    assertRefused("/script_path", newAgent(bundle, "a.txt"));
    assertRefused("/script_path", newAgent(bundle, "none.py"));
    assertEquals(413, newAgent(bundle, "large.py").status());
    assertRefused("/bundle_id", newAgent("bundle_1", "a.py"));
    assertRefused(
        "/script_path", api.post("/v1/agents", "{\"bundle_id\": \"%s\"}".formatted(bundle)));
    assertRefused("/script", api.post("/v1/agents", "{}"));
    assertRefused("/script", api.post("/v1/agents", "{\"bundle_id\": null}"));
    assertRefused(
        "/script_path", api.post("/v1/agents", "{\"script\": \"\", \"script_path\": \"main.py\"}"));
    assertRefused(
        "/script",
        api.post(
            "/v1/agents",
            "{\"bundle_id\": \"%s\", \"script_path\": \"nul.py\", \"script\": \"\"}"
                .formatted(bundle)));
    String id = newAgent(project(), "src/main.py").get("id");
    assertRefused("/script_path", change(id, "{\"script_path\": null}"));
    assertRefused("/bundle_id", change(id, "{\"bundle_id\": \"bundle_1\"}"));
    assertRefused("/script_path", change(id, "{\"bundle_id\": \"%s\"}".formatted(bundle)));
    assertEquals(
        412, api.patch("/v1/agents/" + id, "{\"script\": \"\"}", "If-Match", "\"1-1\"").status());
  }

  private String executor(String agent, int revision) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                Executor.make(agent, revision, "build_", Instant.now(), Duration.ofSeconds(300))
                    .orElseThrow()
                    .id);
  }

  private Answer fetch(String executor, String json) {
    return fetch(executor, executor, json);
  }

  private Answer fetch(String executor, String bearer, String json) {
    return Api.withKey(null)
        .post(
            "/internal/v1/executors/" + executor + "/bundle",
            json,
            "Authorization",
            "Bearer " + tokens.make(bearer));
  }

  @Test
  void anExecutorFetchesTheBundleOfItsRevision() throws IOException {
    byte[] large = new byte[PART_BYTES + 5];
    new Random(8).nextBytes(large);
    String bundle =
        created(
                null,
                pack(large, bytes(MAIN)),
                List.of(entry("data/large", large), entry("main.py", bytes(MAIN))),
                List.of())
            .get("id");
    String agent = newAgent(bundle, "main.py").get("id");
    rows.run("update builder_job set state = 'succeeded' where agent_id = ?", agent);
    String executor = executor(agent, 1);
    api.post("/v1/agents/" + agent + "/execute", "{}");
    Answer work =
        Api.withKey(null)
            .post(
                "/internal/v1/executors/" + executor + "/poll?wait=30",
                "{\"protocol\": 1, \"polls\": 1, \"prepared\": false}",
                "Authorization",
                "Bearer " + tokens.make(executor));
    assertEquals(Map.of("id", bundle, "script", "main.py"), work.get("agent.bundle"));
    assertEquals(MAIN, work.get("agent.script"));
    String manifest = "{\"bundle_id\": \"%s\"}".formatted(bundle);
    Answer found = fetch(executor, manifest);
    assertEquals(200, found.status(), found.text());
    assertEquals("application/json", found.header("Content-Type").split(";")[0]);
    JsonNode expected =
        mapper.readTree(
            """
            {"packs": [%d], "files": [
              {"path": "data/large", "size_bytes": %d, "sha256": "%s", "executable": false, "pack": 0, "offset": 0},
              {"path": "main.py", "size_bytes": %d, "sha256": "%s", "executable": false, "pack": 0, "offset": %d}]}"""
                .formatted(
                    large.length + MAIN.length(),
                    large.length,
                    digest(large),
                    MAIN.length(),
                    digest(bytes(MAIN)),
                    large.length));
    assertEquals(expected, mapper.readTree(found.text()));
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int part = 0; part < 2; part++) {
      Answer bytes = fetch(executor, part(bundle, 0, part));
      assertEquals(200, bytes.status());
      assertEquals("application/octet-stream", bytes.header("Content-Type"));
      all.writeBytes(bytes.http().body());
    }
    assertArrayEquals(large, Arrays.copyOf(all.toByteArray(), large.length));
    assertEquals(large.length + MAIN.length(), all.size());
    assertEquals(422, fetch(executor, part(bundle, 0, 2)).status());
    assertEquals(422, fetch(executor, part(bundle, 1, 0)).status());
    assertEquals(422, fetch(executor, "{}").status());
    assertEquals(403, fetch(executor, "executor_1", manifest).status());
    assertEquals(
        401, api.post("/internal/v1/executors/" + executor + "/bundle", manifest).status());
    String other = project();
    assertEquals(404, fetch(executor, "{\"bundle_id\": \"%s\"}".formatted(other)).status());
    change(agent, "{\"bundle_id\": \"%s\", \"script_path\": \"src/main.py\"}".formatted(other));
    assertEquals(200, fetch(executor, manifest).status());
    rows.run("update executor set state = 'ended', ended_at = now() where id = ?", executor);
    assertEquals(404, fetch(executor, manifest).status());
  }

  private static String part(String bundle, int pack, int part) {
    return "{\"bundle_id\": \"%s\", \"pack\": %d, \"part\": %d}".formatted(bundle, pack, part);
  }

  /** Where the first part of a file is. */
  private static Path stored(String file) {
    return DIRECTORY.resolve(file.substring(file.length() - 2)).resolve(file).resolve("0");
  }

  private String fileOf(String bundle, int number) {
    return rows.text(
        "select file_id from bundle_file where bundle_id = ? and number = ?", bundle, number);
  }

  @Test
  void whatTheStorageHasLostIsSaid() throws IOException {
    String bundle = project();
    String agent = newAgent(bundle, "src/main.py").get("id");
    String executor = executor(agent, 1);
    Path part = stored(fileOf(bundle, 1));
    byte[] before = java.nio.file.Files.readAllBytes(part);
    java.nio.file.Files.delete(part);
    assertEquals(410, fetch(executor, part(bundle, 0, 0)).status());
    assertRefused("/base", request(bundle, null, List.of(), List.of("src/main.py")));
    assertRefused("/bundle_id", newAgent(bundle, "src/pkg/one.py"));
    // The script is there without it.
    assertEquals(MAIN, api.get("/v1/agents/" + agent).get("script"));
    java.nio.file.Files.write(part, before);
    Path manifest = stored(fileOf(bundle, 0));
    java.nio.file.Files.delete(manifest);
    assertEquals(410, fetch(executor, "{\"bundle_id\": \"%s\"}".formatted(bundle)).status());
    assertEquals(410, api.get("/v1/bundles/" + bundle + "/manifest").status());
    assertRefused("/base", request(bundle, null, List.of(), List.of("src/main.py")));
    assertRefused("/bundle_id", change(agent, "{\"script\": \"\"}"));
    assertEquals(200, change(agent, "{\"bundle_id\": null, \"script\": \"\"}").status());
  }

  private void age(String bundle) {
    rows.run("update bundle set created_at = '2001-01-01' where id = ?", bundle);
  }

  private void removeOld() {
    ThrottledBatches batches = new ThrottledBatches(database, () -> true);
    OldBundles.remove(batches, LATER);
    OldFiles.remove(batches, LATER, files);
  }

  private boolean isThere(String file) {
    return rows.count("file where id = ?", file) == 1;
  }

  @Test
  void whatNobodyNeedsIsRemoved() {
    String unused = project();
    String unusedPack = fileOf(unused, 1);
    String unusedManifest = fileOf(unused, 0);
    String base = project();
    String basePack = fileOf(base, 1);
    String used =
        created(base, pack(bytes("x")), List.of(entry("x", bytes("x"))), List.of("src/pkg/one.py"))
            .get("id");
    String agent = newAgent(used, "src/main.py").get("id");
    String young = project();
    List.of(unused, base, used).forEach(this::age);
    rows.run("update file set used_at = '2001-01-01'");
    removeOld();
    assertEquals(404, api.get("/v1/bundles/" + unused).status());
    assertEquals(404, api.get("/v1/bundles/" + base).status());
    assertEquals(200, api.get("/v1/bundles/" + young).status());
    assertTrue(isThere(basePack), "a later bundle needs it");
    assertEquals(List.of(false, false), List.of(isThere(unusedPack), isThere(unusedManifest)));
    assertTrue(java.nio.file.Files.notExists(stored(unusedPack)), "its bytes");
    assertTrue(java.nio.file.Files.exists(stored(basePack)), "the bytes of the other one");
    assertArrayEquals(bytes(MAIN), content(used, "src/main.py"));
    assertArrayEquals(bytes("VALUE = 1\n"), content(young, "src/pkg/one.py"));
    assertEquals(
        MAIN,
        change(agent, "{\"script_path\": \"src/main.py\", \"bundle_id\": \"%s\"}".formatted(used))
            .get("script"));
    assertRefused("/bundle_id", newAgent(unused, "src/main.py"));
    rows.run("delete from agent_revision where agent_id = ?", agent);
    removeOld();
    assertEquals(404, api.get("/v1/bundles/" + used).status());
    assertEquals(List.of(false), List.of(isThere(basePack)));
  }

  @Test
  void aPackThatTwoBundlesHaveStaysForTheSecond() {
    String pack = pack(bytes("1"));
    String first = created(null, pack, List.of(entry("a", bytes("1"))), List.of()).get("id");
    String second = created(null, pack, List.of(entry("b", bytes("1"))), List.of()).get("id");
    age(first);
    rows.run("update file set used_at = '2001-01-01' where id = ?", pack);
    removeOld();
    assertEquals(404, api.get("/v1/bundles/" + first).status());
    assertArrayEquals(bytes("1"), content(second, "b"));
  }

  /** With a transaction in between that has not been committed. */
  @Test
  void aBundleInUseAtTheSameMomentStays() throws SQLException {
    String bundle = project();
    String other = project();
    age(bundle);
    age(other);
    String agent = api.post("/v1/agents", "{\"script\": \"\"}").get("id");
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try (var statement =
          connection.prepareStatement(
              "update agent_revision set bundle_id = ?, script_path = '' where agent_id = ?")) {
        statement.setString(1, bundle);
        statement.setString(2, agent);
        statement.executeUpdate();
        removeOld();
        connection.commit();
      } finally {
        connection.setAutoCommit(true);
      }
    }
    removeOld();
    assertEquals(200, api.get("/v1/bundles/" + bundle).status());
    assertEquals(404, api.get("/v1/bundles/" + other).status());
    rows.run("update agent_revision set bundle_id = null where agent_id = ?", agent);
  }

  /** A revision waits for the deletion that is being committed, and is refused then. */
  @Test
  void aBundleThatIsBeingDeletedCanNotBeUsed() throws Exception {
    String bundle = project();
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      CompletableFuture<Answer> answer;
      try (var statement = connection.prepareStatement("delete from bundle where id = ?")) {
        statement.setString(1, bundle);
        statement.executeUpdate();
        answer = CompletableFuture.supplyAsync(() -> newAgent(bundle, "src/main.py"));
        dev.roost.Await.until(
            "the agent waits for the lock",
            () ->
                rows.count(
                        "pg_stat_activity where wait_event_type = 'Lock' and query like '%key share'")
                    > 0);
        connection.commit();
      } finally {
        connection.setAutoCommit(true);
      }
      assertRefused("/bundle_id", answer.join());
    }
  }

  @Test
  void changesAtTheSameTimeDoNotMixTheirFiles() {
    String bundle = project();
    String id = newAgent(bundle, "src/main.py").get("id");
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      String script = "def main(): return " + i;
      String json =
          i % 2 == 0
              ? "{\"script\": \"%s\"}".formatted(script)
              : "{\"bundle_id\": null, \"script\": \"%s\"}".formatted(script);
      answers.add(CompletableFuture.supplyAsync(() -> change(id, json)));
    }
    for (CompletableFuture<Answer> answer : answers) {
      int status = answer.join().status();
      assertTrue(status == 200 || status == 409, "status " + status);
    }
    Answer revisions = api.get("/v1/agents/" + id + "/revisions");
    List<Map<String, Object>> all = revisions.get("data");
    for (Map<String, Object> revision : all) {
      if (revision.get("bundle_id") != null) {
        assertArrayEquals(
            bytes((String) revision.get("script")),
            content((String) revision.get("bundle_id"), "src/main.py"));
      }
    }
  }
}
