package dev.roost.intake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.ChangedSettings;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.RestAssured;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests whose bodies are too large, too slow, from strangers, or too many. */
@QuarkusTest
@TestProfile(ChangedSettings.class)
@WithTestResource(TestDatabase.class)
class IntakeIT {
  private static final int LIMIT_MILLIS = 60_000;

  /** More than there are worker threads. */
  private static final int MANY = 250;

  @ConfigProperty(name = "roost.internal-port")
  int linkPort;

  private final String key = Api.as(Role.WRITE).key();
  private final List<Socket> open = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (Socket socket : open) {
      socket.close();
    }
  }

  private Socket send(String method, String path, String key, long length, String body)
      throws IOException {
    int port = path.startsWith("/internal/") ? linkPort : RestAssured.port;
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    open.add(socket);
    socket.setSoTimeout(LIMIT_MILLIS);
    String head =
        "%s %s HTTP/1.1\r\nHost: roost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"
            .formatted(
                method, path, length, key == null ? "" : "Authorization: Bearer " + key + "\r\n");
    socket.getOutputStream().write((head + body).getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  /** The status line's number, read while the request's body has not been sent. */
  private static int status(Socket socket) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = socket.getInputStream().read();
        c >= 0 && c != '\n';
        c = socket.getInputStream().read()) {
      line.append((char) c);
    }
    assertTrue(line.toString().startsWith("HTTP/1.1 "), line.toString());
    return Integer.parseInt(line.substring(9, 12));
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /v1/agents, 401",
    "PUT, /v1/datastore/store_1/entries/a, 401",
    "POST, /internal/v1/executors/executor_1/poll, 401",
    "POST, /internal/v1/executions/execution_1/frames, 401",
    "POST, /internal/v1/datastores/store_1/operations, 401",
    "POST, /v1/session, 413",
    "POST, /nowhere, 404"
  })
  void aStrangerIsRefusedBeforeTheBodyIsReceived(String method, String path, int expected)
      throws IOException {
    // Frames have a type of their own; 415 is a refusal, too.
    int status = status(send(method, path, null, 40 << 20, "{"));
    assertEquals(path.endsWith("frames") && status == 415 ? 415 : expected, status);
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /v1/agents, 40000000",
    "POST, /v1/agents/agent_1/execute, 60000000",
    "POST, /v1/agents/agent_1/execute-batch, 70000000",
    "POST, /v1/schedules/preview, 65537",
    "POST, /v1/keys, 65537",
    "PUT, /v1/datastore/store_1/entries/a, 1200000"
  })
  void tooLargeABodyIsRefusedBeforeItIsSent(String method, String path, long length)
      throws IOException {
    assertEquals(413, status(send(method, path, key, length, "{")));
  }

  @Test
  void aBodyWithoutALengthIsRefusedAsSoonAsItIsTooLarge() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), RestAssured.port);
    open.add(socket);
    socket.setSoTimeout(LIMIT_MILLIS);
    String head =
        "POST /v1/session HTTP/1.1\r\nHost: roost\r\nContent-Type: application/json\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n4000\r\n";
    socket
        .getOutputStream()
        .write((head + " ".repeat(0x4000) + "\r\n").getBytes(StandardCharsets.UTF_8));
    assertEquals(413, status(socket));
  }

  @Test
  void halfSentRequestsHoldNoThreadAndEndAtTheirDeadline() throws IOException {
    List<Socket> half = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      half.add(send("POST", "/v1/session", null, 100, "{"));
    }
    // Meanwhile, others are served.
    assertEquals(200, Api.withKey(null).get("/q/health/live").status());
    assertEquals(200, Api.withKey(key).get("/v1/agents").status());
    assertEquals(422, Api.withKey(key).post("/v1/keys", "{}").status());
    for (Socket socket : half) {
      assertEquals(408, status(socket));
    }
  }

  @Test
  void aRequestWithoutMemoryIsRejectedWithRetryAfter() throws IOException {
    // Each of them takes the whole budget until its time is over.
    Socket first = send("POST", "/v1/agents/agent_1/execute-batch", key, 60 << 20, "{");
    Socket other = send("POST", "/v1/agents/agent_1/execute", key, 4 << 20, "{");
    assertEquals(200, Api.withKey(key).get("/v1/agents").status());
    assertEquals(422, Api.withKey(key).post("/v1/keys", "{}").status()); // a small one
    assertEquals(Set.of(408, 503), Set.of(status(first), status(other)));
  }

  @Test
  void largeBodiesThatAreAllowedAllComeThrough() throws Exception {
    Api api = Api.withKey(key);
    String store = api.post("/v1/datastore", "{\"name\": \"large\"}").get("id");
    String value = "\"" + "x".repeat(1_000_000) + "\"";
    List<Thread> threads = new ArrayList<>();
    List<Integer> statuses = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 12; i++) {
      String path = "/v1/datastore/" + store + "/entries/" + i;
      Thread thread = new Thread(() -> statuses.add(api.put(path, value).status()));
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join(LIMIT_MILLIS);
    }
    assertEquals(java.util.Collections.nCopies(12, 201), statuses);
  }
}
