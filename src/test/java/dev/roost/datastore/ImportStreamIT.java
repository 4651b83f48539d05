package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.ChangedSettings;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.RestAssured;
import jakarta.inject.Inject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Imports that are cut short: by a limit, by the database, by the client. */
@QuarkusTest
@TestProfile(ChangedSettings.class)
@WithTestResource(TestDatabase.class)
class ImportStreamIT {
  private static final int STORE_BYTES = ChangedSettings.STORE_BYTES;
  private static final String BIG_VALUE = '"' + "x".repeat(999_998) + '"';

  @Inject DataSource database;

  private Api api;
  private String path;

  @BeforeEach
  void makeStore() {
    api = Api.as(Role.WRITE);
    path = "/v1/datastore/" + api.post("/v1/datastore", "{}").get("id");
  }

  @Test
  void aStoreThatGetsFullKeepsTheBatchesBefore() {
    String lines =
        IntStream.rangeClosed(1, 20).mapToObj(ImportStreamIT::line).collect(Collectors.joining());
    Answer answer = Streams.post(api, path + "/import", lines.getBytes(StandardCharsets.UTF_8));
    assertEquals(413, answer.status());
    assertEquals("store_full", answer.get("code"));
    String detail = answer.get("detail");
    assertTrue(detail.startsWith("line 13: the batch up to line 16: "), detail);
    assertTrue(detail.contains("The 12 lines before line 13 are stored"), detail);
    assertEquals(12, entries());
  }

  @Test
  void anUnavailableDatabaseIsReportedWithTheProgress() throws Exception {
    String lines =
        IntStream.rangeClosed(1, 6).mapToObj(ImportStreamIT::line).collect(Collectors.joining());
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("lock table datastore_entry in share mode");
      CompletableFuture<Answer> answer =
          CompletableFuture.supplyAsync(
              () -> Streams.post(api, path + "/import", lines.getBytes(StandardCharsets.UTF_8)));
      Await.until(
          "the import has ended",
          () -> {
            endWaiting(statement);
            return answer.isDone();
          });
      connection.rollback();
      connection.setAutoCommit(true);
      assertEquals(503, answer.get().status(), answer.get().text());
      String detail = answer.get().get("detail");
      assertTrue(detail.startsWith("line 1: the batch up to line 4: "), detail);
      assertTrue(detail.endsWith("Nothing is stored."), detail);
    }
  }

  @Test
  void aRequestOfUnknownLengthOverTheLimitSaysHowFarItCame() {
    // The same key again and again, so that the store doesn't get full.
    Iterable<byte[]> lines =
        () ->
            IntStream.rangeClosed(1, 90)
                .mapToObj(n -> line(1).getBytes(StandardCharsets.UTF_8))
                .iterator();
    Answer answer = Streams.post(api, path + "/import", BodyPublishers.ofByteArrays(lines));
    assertEquals(413, answer.status());
    assertEquals("too_large", answer.get("code"));
    String detail = answer.get("detail");
    assertTrue(detail.startsWith("line 83: The request has more than "), detail);
    assertTrue(detail.contains("The 80 lines before line 81 are stored"), detail);
  }

  @Test
  void aClientThatSendsEverythingBeforeItListensHearsOfAMistake() throws IOException {
    byte[] lines = ("{}\n" + line(1).repeat(20)).getBytes(StandardCharsets.UTF_8);
    try (Socket socket = begin(lines.length)) {
      socket.getOutputStream().write(lines);
      BufferedReader answer =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      assertEquals("HTTP/1.1 422 Unprocessable Entity", answer.readLine());
    }
  }

  @Test
  void aClientThatGoesAwayLeavesWholeBatches() throws IOException {
    try (Socket socket = begin(10_000_000)) {
      for (int n = 1; n <= 6; n++) {
        socket.getOutputStream().write(line(n).getBytes(StandardCharsets.UTF_8));
      }
      socket.getOutputStream().write("{\"key\":\"half".getBytes(StandardCharsets.UTF_8));
      Await.until("a batch is stored", () -> entries() == 4);
    }
    assertEquals(200, Streams.post(api, path + "/import", new byte[0]).status());
    assertEquals(4, entries());
  }

  private Socket begin(int contentLength) throws IOException {
    Socket socket = new Socket("localhost", RestAssured.port);
    OutputStream request = socket.getOutputStream();
    request.write(
        """
        POST %s/import HTTP/1.1
        Host: localhost
        Authorization: Bearer %s
        Content-Type: application/x-ndjson
        Content-Length: %d

        """
            .formatted(path, api.key(), contentLength)
            .replace("\n", "\r\n")
            .getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  private int entries() {
    return api.get(path).get("entries");
  }

  private static String line(int n) {
    return "{\"key\":\"%d\",\"value\":%s}\n".formatted(n, BIG_VALUE);
  }

  private static void endWaiting(Statement statement) {
    try {
      statement.execute(
          "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
