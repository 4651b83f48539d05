package dev.roost.swarmnode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Await;
import dev.roost.FollowerDatabase;
import dev.roost.api.Role;
import dev.roost.api.Text;
import dev.roost.cluster.Signals;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import dev.roost.event.EventLog;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import io.restassured.path.json.JsonPath;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Listeners on a replica that doesn't run the jobs: the rows change as another replica changes
 * them.
 */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(120)
class ExecutionSocketsIT {
  private static final String SOCKETS = "/compat/swarmnode/ws/v1/";

  private static final Sql END =
      Sql.of(
          """
          update executor_job set state = :state, message = :message, reason = 'cancelled', finished_at = now()
          where id = :id""");

  @Inject Database database;
  @Inject Signals signals;
  @Inject EventLog events;

  private Api api;
  private String agent;

  @BeforeEach
  void createAgent() {
    api = Api.as(Role.WRITE);
    agent = api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
  }

  /** What a client has received. */
  private static final class Received implements WebSocket.Listener {
    final List<String> messages = new CopyOnWriteArrayList<>();
    final CompletableFuture<Integer> closed = new CompletableFuture<>();
    private final StringBuilder text = new StringBuilder();
    WebSocket socket;

    @Override
    public CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        messages.add(text.toString());
        text.setLength(0);
      }
      webSocket.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket webSocket, int statusCode, String reason) {
      closed.complete(statusCode);
      return null;
    }

    JsonPath awaitMessage(int number) {
      Await.until("message " + number, () -> messages.size() > number);
      return JsonPath.from(messages.get(number));
    }
  }

  private static Received listen(String path, String key) {
    Received received = new Received();
    WebSocket.Builder builder = HttpClient.newHttpClient().newWebSocketBuilder();
    if (key != null) {
      builder.header("Authorization", "Bearer " + key);
    }
    received.socket =
        builder
            .buildAsync(URI.create("ws://localhost:" + RestAssured.port + SOCKETS + path), received)
            .join();
    return received;
  }

  private static int refusal(String path, String key) {
    Throwable cause = assertThrows(CompletionException.class, () -> listen(path, key)).getCause();
    return ((WebSocketHandshakeException) cause).getResponse().statusCode();
  }

  private String job() {
    return api.post("/v1/agents/" + agent + "/execute", "{\"payload\": 1}").get("id");
  }

  private void end(String job, String state) {
    database.once(
        END.with("id", job).with("state", state).with("message", "Why it ended.")::update);
  }

  @Test
  void oneMessageComesAlsoWhenTheNotificationIsLostAndToWhoComesLate() {
    String job = job();
    String path = "execution/" + CompatIds.JOB.address(job) + "/";
    Received early = listen(path, api.key());
    end(job, "cancelled");
    JsonPath message = early.awaitMessage(0);
    assertEquals(1_000, early.closed.join());
    assertEquals("termination", message.get("status"));
    assertEquals(CompatIds.EXECUTION.uuid(job), message.get("id"));
    assertEquals("Why it ended.", message.get("logs[0].message"));
    assertNull(message.get("return_value"));
    Received late = listen(path, Api.as(Role.READ).key());
    late.awaitMessage(0);
    assertEquals(early.messages, late.messages);
    late.closed.join();
  }

  @Test
  void aSignalWakesListeners() {
    String job = job();
    Received received = listen("execution/" + CompatIds.JOB.address(job) + "/", api.key());
    end(job, "failed");
    signals.fire(job);
    assertEquals("failure", received.awaitMessage(0).get("status"));
  }

  /** Those of other tests with this database come first. */
  private void placeEvents() {
    while (events.place() > 0) {
      // There may be more.
    }
  }

  @Test
  void aCronJobsListenerGetsEachRunThatEndsFromThenOn() {
    String schedule =
        api.post("/v1/schedules", "{\"cron\": \"@yearly\", \"agent_id\": \"" + agent + "\"}")
            .get("id");
    String before = trigger(schedule);
    end(before, "cancelled");
    placeEvents();
    Received received =
        listen("execution-stream/" + CompatIds.CRON_JOB.address(schedule) + "/", api.key());
    List<String> runs = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      String run = trigger(schedule);
      end(job(), "cancelled"); // of the same agent, and not of the schedule
      end(run, "cancelled");
      placeEvents();
      runs.add(CompatIds.EXECUTION.uuid(run));
    }
    received.awaitMessage(2);
    assertEquals(
        runs, received.messages.stream().map(text -> JsonPath.from(text).get("id")).toList());
    JsonPath first = JsonPath.from(received.messages.get(0));
    assertEquals(CompatIds.CRON_JOB.uuid(schedule), first.get("agent_executor_cron_job_id"));
    assertNull(first.get("agent_executor_job_id"));
    api.delete("/v1/schedules/" + schedule);
    placeEvents();
    assertEquals(1_000, received.closed.join());
    assertEquals(3, received.messages.size());
  }

  private String trigger(String schedule) {
    return api.post("/v1/schedules/" + schedule + "/trigger", null).get("id");
  }

  @Test
  void aWrongKeyOrAddressIsRefusedAtTheHandshake() {
    String path = "execution/" + CompatIds.JOB.address(job()) + "/";
    assertEquals(401, refusal(path, null));
    assertEquals(401, refusal(path, "roost_x_y"));
    assertEquals(404, refusal("nothing/x/", null));
    for (String address : List.of("x", "0".repeat(26), "z".repeat(26))) {
      assertEquals(404, refusal("execution/" + address + "/", api.key()));
      assertEquals(404, refusal("execution-stream/" + address + "/", api.key()));
    }
    Api.Answer plain = api.get(SOCKETS + path);
    assertEquals(400, plain.status());
    assertEquals("malformed_json", plain.get("code"));
  }

  @Test
  void aDeletedKeyEndsItsListeners() {
    Api other = Api.as(Role.READ);
    Received received = listen("execution/" + CompatIds.JOB.address(job()) + "/", other.key());
    api.delete("/v1/keys/" + other.get("/v1/session").get("key.id"));
    assertEquals(1_008, received.closed.join());
  }

  @Test
  void aMessageStaysBelowOneMebibyteAndKeepsTheReturnValue() {
    String job = job();
    String value = "\"" + "é".repeat(300_000) + "\"";
    database.once(
        connection -> {
          String execution = "exec_" + CompatIds.JOB.address(job);
          Sql.of(
                  """
                  insert into log_entry (owner_id, seq, time, stream, message, continued)
                  select :owner, n, now(), 'stdout', n || repeat(' "x', 300), false from generate_series(1, 3000) n""")
              .with("owner", execution)
              .update(connection);
          Sql.of(
                  """
                  insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state,
                    return_value, started_at, finished_at, cold_start, queued_seconds, draft)
                  select :id, j.id, j.agent_id, 1, 'build_x', 'executor_x', 1, 'succeeded', :value, now(), now(), false, 0, false
                  from executor_job j where j.id = :job""")
              .with("id", execution)
              .with("value", value)
              .with("job", job)
              .update(connection);
          return Sql.of(
                  """
                  update executor_job set state = 'succeeded', latest_execution_id = :id, finished_at = now()
                  where id = :job""")
              .with("id", execution)
              .with("job", job)
              .update(connection);
        });
    Received received = listen("execution/" + CompatIds.JOB.address(job) + "/", api.key());
    JsonPath message = received.awaitMessage(0);
    String text = received.messages.get(0);
    assertTrue(Text.sizeBytes(text) < 1 << 20, Text.sizeBytes(text) + " bytes");
    assertTrue(Text.sizeBytes(text) > 900_000, Text.sizeBytes(text) + " bytes");
    assertTrue(text.contains(value), "the whole return value");
    assertTrue(message.<String>get("logs[0].message").endsWith("earlier entries are left out."));
    assertTrue(message.<String>get("logs[-1].message").startsWith("3000 "));
  }
}
