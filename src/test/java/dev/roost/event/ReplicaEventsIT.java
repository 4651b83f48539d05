package dev.roost.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Await;
import dev.roost.FollowerDatabase;
import dev.roost.agent.AgentChanged;
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
@Timeout(60)
class ReplicaEventsIT implements Replicas.Listener {
  @Inject Signals signals;
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
    other = new DatabaseReplicas(new DatabaseSession.Database(url, "roost", "roost"), pool);
    other.start(this);
    listening.orTimeout(20, TimeUnit.SECONDS).join();
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
    signal.orTimeout(10, TimeUnit.SECONDS).join();
  }

  @Test
  void changesOfAgentsAndOrdersAreTold() {
    Api api = Api.as(Role.WRITE);
    String id = api.post("/v1/agents", "{\"script\": \"def main(): pass\"}").get("id");
    api.patch("/v1/agents/" + id, "{\"script\": \"def main(): return 1\"}");
    Await.until("the change is heard", () -> events.contains(new AgentChanged(id, 2)));
    api.post("/v1/agents/" + id + "/execute", "{}");
    Await.until("the order is heard", () -> heard("JobWaiting[agentId=" + id));
    assertTrue(heard("ExecutorsNeeded") && heard("BuilderJobsChanged"), "the leader must know");
  }

  private boolean heard(String beginning) {
    return events.stream().anyMatch(event -> event.toString().startsWith(beginning));
  }

  @Test
  void theEndOfAnOrderElsewhereAnswersWhoeverWaitsHere() {
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
    assertEquals("cancelled", answer.orTimeout(10, TimeUnit.SECONDS).join().get("state"));
  }

  @Test
  void aKeyThatWasDeletedElsewhereIsForgotten() {
    Api api = Api.as(Role.WRITE);
    Api.Answer made = api.post("/v1/keys", "{\"name\": \"a\", \"role\": \"read\"}");
    String id = made.get("id");
    Api reader = Api.withKey(made.get("key"));
    assertEquals(200, reader.get("/v1/runtime").status());
    long began = System.nanoTime();
    sql("delete from api_key where id = '" + id + "'");
    other.tellEvent(new ReplicaEvents.ForgottenKey(id));
    Await.until("it is refused", () -> reader.get("/v1/runtime").status() == 401);
    assertTrue(System.nanoTime() - began < 4_000_000_000L, "before its memory runs out");

    String second = api.post("/v1/keys", "{\"name\": \"b\", \"role\": \"read\"}").get("id");
    api.delete("/v1/keys/" + second);
    Await.until("it is told", () -> events.contains(new ReplicaEvents.ForgottenKey(second)));
    assertFalse(events.contains(new ReplicaEvents.ForgottenKey(id)), "no echo");
  }

  private void sql(String text) {
    QuarkusTransaction.requiringNew().run(() -> entities.createNativeQuery(text).executeUpdate());
  }
}
