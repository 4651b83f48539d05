package dev.roost.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.roost.Api;
import dev.roost.Await;
import dev.roost.FollowerDatabase;
import dev.roost.agent.AgentChanged;
import dev.roost.api.Credential;
import dev.roost.api.Role;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.eclipse.microprofile.config.Config;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the application tells other replicas, and what it makes of what they tell. */
@QuarkusTest
@WithTestResource(FollowerDatabase.class)
@Timeout(180)
class ReplicaEventsIT implements Replicas.Listener {
  @Inject Signals signals;
  @Inject OpenStreams streams;
  @Inject Replicas own;
  @Inject DataSource pool;
  @Inject Config settings;
  @Inject EntityManager entities;

  private final Set<String> topics = ConcurrentHashMap.newKeySet();
  private final List<Shared> events = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Void> listening = new CompletableFuture<>();
  private DatabaseReplicas other;

  @BeforeEach
  void startAnother() {
    String url = settings.getValue("quarkus.datasource.jdbc.url", String.class);
    // One whose connection a pause of the machine doesn't break: what it is told then is lost.
    other =
        new DatabaseReplicas(
            new DatabaseSession.Database(url, "roost", "roost"),
            new DatabaseSession.Heartbeat(1, 60),
            pool);
    other.start(this);
    listening.orTimeout(30, TimeUnit.SECONDS).join();
  }

  @AfterEach
  void stopAnother() {
    other.stop();
  }

  @Override
  public void topic(String topic) {
    topics.add(topic);
  }

  @Override
  public void event(Shared event) {
    events.add(event);
  }

  @Override
  public void anything() {
    listening.complete(null);
  }

  @Test
  void aFollowerFollows() {
    assertFalse(own.isHeld());
    assertFalse(other.isHeld());
  }

  @Test
  void signalsGoToTheOthersAndComeFromThem() {
    signals.fire("from here");
    Await.until("it is heard there", () -> topics.contains("from here"));
    CompletableFuture<Void> signal = signals.next("from there");
    other.tellTopic("from there");
    signal.orTimeout(30, TimeUnit.SECONDS).join();
  }

  @Test
  void changesOfAgentsAndJobsAreReported() {
    Api api = Api.as(Role.WRITE);
    String id = api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
    api.patch("/v1/agents/" + id, "{\"script\": \"def main(): return 1\"}");
    Await.until("the change is heard", () -> events.contains(new AgentChanged(id, 2)));
    api.post("/v1/agents/" + id + "/execute", "{}");
    Await.until("the event is received", () -> heard("JobWaiting[agentId=" + id));
    Await.until("the leader knows", () -> heard("ExecutorsNeeded") && heard("BuilderJobsChanged"));
  }

  private boolean heard(String beginning) {
    return events.stream().anyMatch(event -> event.toString().startsWith(beginning));
  }

  @Test
  void theEndOfAJobOnAnotherReplicaAnswersWaitersHere() {
    Api api = Api.as(Role.WRITE);
    String id = api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
    String job = api.post("/v1/agents/" + id + "/execute", "{}").get("id");
    CompletableFuture<Api.Answer> answer =
        CompletableFuture.supplyAsync(() -> api.get("/v1/executor-jobs/" + job + "?wait=60"));
    sql(
        "update executor_job set state = 'cancelled', finished_at = now() where id = '"
            + job
            + "'");
    other.tellTopic(job);
    assertEquals("cancelled", answer.orTimeout(30, TimeUnit.SECONDS).join().get("state"));
  }

  @Test
  void aKeyThatWasDeletedElsewhereIsForgotten() {
    Api api = Api.as(Role.WRITE);
    Await.until(
        "one that was told of is refused, and another one still remembered",
        () -> isForgottenBeforeAnother(api));

    String second = api.post("/v1/keys", "{\"name\": \"b\", \"role\": \"read\"}").get("id");
    api.delete("/v1/keys/" + second);
    Await.until("it is told", () -> events.contains(new ReplicaEvents.ForgottenKey(second)));
    assertEquals(
        List.of(new ReplicaEvents.ForgottenKey(second)),
        events.stream().filter(ReplicaEvents.ForgottenKey.class::isInstance).toList(),
        "no echo");
  }

  /**
   * Two keys are deleted, and one is told of. The other one, which was used first, would be
   * forgotten before it when its memory ran out; after a long pause of the machine both have been.
   */
  private boolean isForgottenBeforeAnother(Api api) {
    Api.Answer untold = api.post("/v1/keys", "{\"name\": \"a\", \"role\": \"read\"}");
    Api.Answer told = api.post("/v1/keys", "{\"name\": \"b\", \"role\": \"read\"}");
    Api remembered = Api.withKey(untold.get("key"));
    Api forgotten = Api.withKey(told.get("key"));
    assertEquals(200, remembered.get("/v1/runtime").status());
    assertEquals(200, forgotten.get("/v1/runtime").status());

    String id = told.get("id");
    sql("delete from api_key where id in ('%s', '%s')".formatted(id, untold.get("id")));
    other.tellEvent(new ReplicaEvents.ForgottenKey(id));
    Await.until("it is refused", () -> forgotten.get("/v1/runtime").status() == 401);
    return remembered.get("/v1/runtime").status() == 200;
  }

  private void sql(String text) {
    QuarkusTransaction.requiringNew().run(() -> entities.createNativeQuery(text).executeUpdate());
  }

  @Test
  void aStreamEndsWhenItsKeyIsDeletedElsewhere() {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    streams.begin(new Credential("key_elsewhere", null, null), () -> closed.complete(null));
    other.tellEvent(new ReplicaEvents.ForgottenKey("key_elsewhere"));
    closed.orTimeout(30, TimeUnit.SECONDS).join();
    CompletableFuture<Void> signedOut = new CompletableFuture<>();
    streams.begin(new Credential("key_2", "0f0f", null), () -> signedOut.complete(null));
    other.tellEvent(new ReplicaEvents.ForgottenSession("0f0f"));
    signedOut.orTimeout(30, TimeUnit.SECONDS).join();
  }
}
