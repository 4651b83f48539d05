package dev.roost.swarmnode;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.db.ThrottledBatches;
import dev.roost.file.Files;
import dev.roost.file.OldFiles;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Assets: the form that is uploaded, and what becomes of its content. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@TestProfile(UploadsIT.Limits.class)
class UploadsIT {
  private static final String API = "/compat/swarmnode/v1/";
  private static final int MOST_BYTES = 10_000_000;
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  /** A limit that a test can reach. */
  public static class Limits implements QuarkusTestProfile {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of("roost.swarmnode.asset-bytes", Integer.toString(MOST_BYTES));
    }
  }

  @Inject Database database;
  @Inject Files files;
  @Inject Assets assets;

  private Api api;

  @BeforeEach
  void createKey() {
    api = Api.as(Role.WRITE);
  }

  private Answer request(String agent) {
    return api.post(
        API + "asset-storage-requests/create/",
        "{\"asset_name\": \"a/b.png\", \"agent_id\": %s}"
            .formatted(agent == null ? "null" : '"' + agent + '"'));
  }

  private static HttpResponse<byte[]> send(HttpRequest request) {
    try {
      return CLIENT.send(request, HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static int upload(String url, String key, String part, byte[] content) {
    ByteArrayOutputStream form = new ByteArrayOutputStream();
    if (key != null) {
      form.writeBytes(
          ("--limit\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\n" + key + "\r\n")
              .getBytes(StandardCharsets.UTF_8));
    }
    form.writeBytes(
        ("--limit\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"x\"\r\n\r\n"
                .formatted(part))
            .getBytes(StandardCharsets.UTF_8));
    form.writeBytes(content);
    form.writeBytes("\r\n--limit--\r\n".getBytes(StandardCharsets.UTF_8));
    return send(HttpRequest.newBuilder(URI.create(url))
            .header("Content-Type", "multipart/form-data; boundary=limit")
            .POST(HttpRequest.BodyPublishers.ofByteArray(form.toByteArray()))
            .build())
        .statusCode();
  }

  private static int upload(Answer request, byte[] content) {
    return upload(request.get("presigned_url"), request.get("form_data.key"), "file", content);
  }

  private Answer confirm(Answer request) {
    return api.post(
        API + "assets/confirm-storage/",
        "{\"asset_storage_request_id\": \"" + request.get("request_id") + "\"}");
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private String agent() {
    String id = api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
    return CompatIds.AGENT.uuid(id);
  }

  private static HttpResponse<byte[]> download(Answer asset) {
    return send(HttpRequest.newBuilder(URI.create(asset.get("url"))).build());
  }

  @Test
  void contentOfAnySizeIsStoredAndDownloaded() {
    for (int length : List.of(0, 1, (4 << 20) - 1, 4 << 20, (8 << 20) + 1, MOST_BYTES)) {
      Answer request = request(null);
      assertEquals(201, request.status(), request.text());
      byte[] content = random(length);
      assertEquals(204, upload(request, content), length + " bytes");
      Answer asset = confirm(request);
      assertEquals(201, asset.status(), asset.text());
      HttpResponse<byte[]> read = download(asset);
      assertArrayEquals(content, read.body());
      assertEquals("image/png", read.headers().firstValue("Content-Type").orElseThrow());
      assertEquals(404, confirm(request).status());
    }
  }

  @Test
  void whatIsNotAllowedIsRefused() {
    Answer request = request(null);
    String url = request.get("presigned_url");
    String key = request.get("form_data.key");
    assertEquals(400, confirm(request).status(), "nothing was uploaded");
    assertEquals(
        404, upload(url.replaceAll("signature=.", "signature=x"), key, "file", new byte[1]));
    assertEquals(404, upload(url.replaceAll("expires=.", "expires=9"), key, "file", new byte[1]));
    assertEquals(404, upload(url.replaceAll("\\?.*", ""), key, "file", new byte[1]));
    assertEquals(400, upload(url, null, "file", new byte[1]));
    assertEquals(400, upload(url, "other", "file", new byte[1]));
    assertEquals(400, upload(url, key, "other", new byte[1]));
    HttpResponse<byte[]> json =
        send(
            HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build());
    assertEquals(400, json.statusCode());
    assertTrue(new String(json.body(), StandardCharsets.UTF_8).contains("\"extra\""));
    assertEquals(400, confirm(request).status());
    assertEquals(204, upload(request, new byte[1]), "another attempt");
    assertEquals(400, upload(request, new byte[1]), "only one upload");
    assertEquals(201, confirm(request).status());
    assertEquals(404, upload(request, new byte[1]), "the request is over");
    assertEquals(404, request("019a0000-0000-7000-8000-000000000000").status());
    assertEquals(
        401, Api.as(Role.READ).post(API + "asset-storage-requests/create/", "{}").status());
  }

  @Test
  void tooLargeContentIsRefused() {
    Answer request = request(null);
    int status;
    try {
      status = upload(request, random(MOST_BYTES + 1));
    } catch (AssertionError closed) {
      status = 400; // The connection was closed before all of it was sent.
    }
    assertEquals(400, status);
    assertEquals(400, confirm(request).status());
  }

  private void removeOldFiles() {
    OldFiles.remove(
        new ThrottledBatches(database, () -> true), Instant.now().plusSeconds(60), files);
  }

  private long filesOf(Answer asset) {
    String url = asset.get("url");
    String id = url.replaceAll(".*/file-links/|\\?.*", "");
    return database.once(
        connection ->
            Sql.of("select count(*) as n from file where id = :id")
                .with("id", id)
                .first(connection, row -> row.getLong("n"))
                .orElseThrow());
  }

  @Test
  void assetsStayUntilTheirAgentIsDeletedOrTheyAre() {
    String agent = agent();
    Answer request = request(agent);
    upload(request, random(100));
    Answer asset = confirm(request);
    Answer pending = request(agent);
    upload(pending, random(100));
    removeOldFiles();
    assertEquals(200, download(asset).statusCode());
    assertEquals(1, api.get(API + "assets/?agent_id=" + agent).<Integer>get("total_count"));
    assertEquals(204, api.delete(API + "agents/" + agent + "/delete/").status());
    assertEquals(404, api.get(API + "assets/" + asset.get("id") + "/").status());
    assertEquals(404, download(asset).statusCode());
    assertEquals(404, confirm(pending).status());
    removeOldFiles();
    assertEquals(0, filesOf(asset));

    Answer other = request(null);
    upload(other, random(100));
    Answer free = confirm(other);
    assertEquals(204, api.delete(API + "assets/" + free.get("id") + "/delete/").status());
    assertEquals(404, api.delete(API + "assets/" + free.get("id") + "/delete/").status());
    removeOldFiles();
    assertEquals(0, filesOf(free));
  }

  @Test
  void anUploadThatIsNotConfirmedInTimeIsRemoved() {
    Answer request = request(null);
    upload(request, random(100));
    String id = CompatIds.STORAGE_REQUEST.id(request.get("request_id"));
    String file =
        database.once(
            connection ->
                Sql.of(
                        """
                        update swarmnode_storage_request set expires_at = now() - interval '1 second' where id = :id
                        returning file_id""")
                    .with("id", id)
                    .first(connection, row -> row.getString("file_id"))
                    .orElseThrow());
    assertEquals(404, confirm(request).status());
    assets.removeExpired();
    removeOldFiles();
    long left =
        database.once(
            connection ->
                Sql.of("select count(*) as n from file where id = :id")
                    .with("id", file)
                    .first(connection, row -> row.getLong("n"))
                    .orElseThrow());
    assertEquals(0, left);
  }
}
