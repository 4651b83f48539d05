package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Await;
import dev.roost.ChangedSettings;
import dev.roost.TestDatabase;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jboss.logmanager.ExtLogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests are logged, and neither Roost's access log nor Quarkus's is in the executors' way. */
@QuarkusTest
@TestProfile(ChangedSettings.class)
@WithTestResource(TestDatabase.class)
class AccessLogIT {
  private static final Logger LOG = Logger.getLogger("dev.roost.access");

  @ConfigProperty(name = "roost.internal-port")
  int linkPort;

  private final List<ExtLogRecord> lines = new CopyOnWriteArrayList<>();
  private final Handler handler = new Collector();

  private final class Collector extends Handler {
    @Override
    public void publish(LogRecord line) {
      ExtLogRecord record = ExtLogRecord.wrap(line);
      record.copyMdc();
      lines.add(record);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void collect() {
    handler.setLevel(Level.ALL);
    LOG.addHandler(handler);
  }

  @AfterEach
  void leave() {
    LOG.removeHandler(handler);
    LOG.setLevel(null);
  }

  @Test
  void aRequestIsLoggedWithItsKeyAndIdentifierAndNoSecret() throws Exception {
    Api api = Api.as(Role.READ);
    String requestId = api.get("/v1/agents?name_prefix=hidden").header("X-Request-Id");
    ExtLogRecord line = line("/v1/agents");
    assertEquals("GET", line.getMdc("method"));
    assertEquals("200", line.getMdc("status"));
    assertEquals(requestId, line.getMdc("request_id"));
    assertEquals("key_" + api.key().split("_")[1], line.getMdc("key_id"));
    assertTrue(Integer.parseInt(line.getMdc("duration_ms")) >= 0);
    String text = line.getFormattedMessage();
    assertTrue(text.startsWith("method=GET path=/v1/agents status=200 "), text);
    assertFalse((text + line.getMdcCopy()).contains("hidden"), text);
    assertFalse((text + line.getMdcCopy()).contains(api.key().split("_")[2]), text);
  }

  @Test
  void aRefusedRequestIsLoggedWithoutAKey() throws Exception {
    Api.withKey("roost_nobody_secret").get("/v1/executions");
    ExtLogRecord line = line("/v1/executions");
    assertEquals("401", line.getMdc("status"));
    assertEquals(null, line.getMdc("key_id"));
  }

  @Test
  void executorsAreServedAndTheirPollsAreLoggedForDebuggingOnly() throws Exception {
    assertEquals(401, poll());
    Api.as(Role.READ).get("/v1/runtime");
    line("/v1/runtime");
    assertEquals(List.of(), lines.stream().filter(AccessLogIT::isPoll).toList());
    LOG.setLevel(Level.FINE);
    assertEquals(401, poll());
    Await.until("a line about the poll", () -> lines.stream().anyMatch(AccessLogIT::isPoll));
  }

  private int poll() throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://localhost:" + linkPort + "/internal/v1/executors/e/poll"))
            .header("Authorization", "Bearer nonsense")
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
  }

  private static boolean isPoll(ExtLogRecord line) {
    return line.getMdc("path").endsWith("/poll");
  }

  private ExtLogRecord line(String path) {
    Await.until("a line about " + path, () -> lines.stream().anyMatch(l -> is(l, path)));
    return lines.stream().filter(l -> is(l, path)).findFirst().orElseThrow();
  }

  private static boolean is(ExtLogRecord line, String path) {
    return path.equals(line.getMdc("path"));
  }
}
