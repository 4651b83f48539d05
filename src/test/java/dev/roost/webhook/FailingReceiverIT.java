package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import jakarta.inject.Inject;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What comes of receivers that fail, hang, or want no more. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
@TestProfile(ChangedSettings.class)
class FailingReceiverIT {
  @Inject DataSource database;

  private final Receiver receiver = new Receiver();
  private final CountDownLatch released = new CountDownLatch(1);
  private Api api;
  private Hooks hooks;

  @BeforeEach
  void prepare() {
    api = Api.as(Role.WRITE);
    hooks = new Hooks(api, database);
    hooks.placed(); // What came last in the test before.
  }

  @AfterEach
  void end() {
    released.countDown();
    hooks.update("delete from webhook");
    receiver.close();
  }

  @Test
  void whatFailsIsTriedAgainUntilItSucceeds() {
    AtomicInteger tries = new AtomicInteger();
    receiver.behave(
        (request, socket) ->
            Receiver.answer(tries.incrementAndGet() < 3 ? 500 : 200, "", "busy")
                .handle(request, socket));
    String webhook = hooks.make(receiver.url(), "agent.*");
    hooks.event("agent.updated", "agent_1");
    String id = hooks.deliveries(webhook, 1).get(0);
    Answer first = hooks.tried(webhook, id, 1);
    assertEquals("pending", first.get("state"));
    assertEquals("the receiver responded with 500: busy", first.get("message"));
    assertNotNull(first.get("next_attempt_at"));
    hooks.hurry(webhook);
    hooks.tried(webhook, id, 2);
    hooks.hurry(webhook);
    Answer last = hooks.ended(webhook, id);
    assertEquals("succeeded", last.get("state"));
    assertEquals(List.of(500, 500, 200), last.get("attempts_log.status"));
    assertEquals(List.of(1, 2, 3), last.get("attempts_log.attempt"));
    assertNull(last.get("attempts_log[2].message"));
    assertEquals(
        Set.of(id),
        Set.copyOf(receiver.requests().stream().map(r -> r.header("webhook-id")).toList()));
  }

  @Test
  void eventsOfASubjectArriveInTheirOrderWhateverFails() {
    Map<String, List<Integer>> accepted = new ConcurrentHashMap<>();
    Set<String> refused = ConcurrentHashMap.newKeySet();
    receiver.behave(
        (request, socket) -> {
          String[] data =
              request.text().replaceAll(".*\"data\":\"(\\w+)-(\\d+)\".*", "$1 $2").split(" ");
          // Every third is refused the first time.
          if (Integer.parseInt(data[1]) % 3 == 0 && refused.add(request.header("webhook-id"))) {
            Receiver.answer(500).handle(request, socket);
            return;
          }
          accepted
              .computeIfAbsent(data[0], subject -> new CopyOnWriteArrayList<>())
              .add(Integer.parseInt(data[1]));
          Receiver.answer(200).handle(request, socket);
        });
    String webhook = hooks.make(receiver.url(), "agent.updated");
    List<String> subjects = List.of("a", "b", "c", "d", "e", "f", "g", "h", "i", "j");
    int each = 12;
    for (int i = 0; i < each; i++) {
      for (String subject : subjects) {
        hooks.event("agent.updated", subject, null, "\"%s-%d\"".formatted(subject, i));
      }
    }
    Await.until(
        "all have arrived",
        () -> {
          hooks.hurry(webhook);
          return accepted.values().stream().mapToInt(List::size).sum() == each * subjects.size();
        });
    for (String subject : subjects) {
      assertEquals(IntStream.range(0, each).boxed().toList(), accepted.get(subject), subject);
    }
  }

  @Test
  void aReceiverThatHangsDoesNotHoldUpOthers() {
    receiver.behave(Receiver.hang());
    try (Receiver other = new Receiver()) {
      hooks.make(receiver.url() + TestSender.HURRIED, "execution.*");
      String healthy = hooks.make(other.url(), "agent.updated");
      long begun = System.nanoTime();
      for (int i = 0; i < 100; i++) {
        hooks.event("execution.failed", "exec_" + i);
      }
      Await.until("the receiver hangs", () -> receiver.requests().size() >= Slots.EACH);
      for (int i = 0; i < 100; i++) {
        hooks.event("agent.updated", "agent_" + i);
      }
      hooks.deliveries(healthy, 100);
      Await.until("the other has all", () -> other.requests().size() == 100);
      // At first it has its room, then one at a time, each for as long as it may take.
      int requests = receiver.requests().size();
      long turns = (System.nanoTime() - begun) / TestSender.LITTLE.toNanos();
      assertTrue(requests <= Slots.EACH + turns, requests + " requests in " + turns + " turns");
      assertTrue(requests < 100, "the other one waited for those that hang");
      Await.until("it gets one at a time", () -> receiver.open() == 1);
    }
  }

  @Test
  void aReceiverThatIsGoneDisablesItsWebhook() {
    receiver.behave(Receiver.answer(410));
    String webhook = hooks.make(receiver.url(), "agent.updated");
    String watcher = hooks.make(receiver.url(), "webhook.*");
    hooks.event("agent.updated", "agent_1");
    Answer delivery = hooks.ended(webhook, hooks.deliveries(webhook, 1).get(0));
    assertEquals("failed", delivery.get("state"));
    assertEquals("disabled", api.get(webhook).get("state"));
    assertTrue(api.get(webhook).<String>get("message").contains("410"));
    hooks.event("agent.updated", "agent_1");
    hooks.deliveries(watcher, 1);
    assertEquals(List.of(Hooks.id(webhook)), hooks.subjects(watcher));
    hooks.placed();
    hooks.deliveries(webhook, 1);
  }

  @Test
  void afterADayItIsGivenUpAndWhatWaitsIsSentWhenItIsEnabledAgain() {
    receiver.behave(Receiver.answer(500));
    String webhook = hooks.make(receiver.url(), "agent.updated");
    hooks.event("agent.updated", "agent_1");
    String first = hooks.deliveries(webhook, 1).get(0);
    hooks.tried(webhook, first, 1);
    hooks.event("agent.updated", "agent_1");
    hooks.event("agent.updated", "agent_2");
    List<String> all = hooks.deliveries(webhook, 3);
    hooks.tried(webhook, all.get(2), 1);
    hooks.update(
        "update webhook_delivery set give_up_at = now(), next_attempt_at = now() where id = '%s'"
            .formatted(first));
    Answer failed = hooks.ended(webhook, first);
    assertEquals("failed", failed.get("state"));
    assertEquals("disabled", api.get(webhook).get("state"));
    assertTrue(api.get(webhook).<String>get("message").contains("500"), "the message says why");
    int requests = receiver.requests().size();
    hooks.hurry(webhook);
    // Another webhook's delivery shows that a pass has been made meanwhile.
    receiver.behave(Receiver.answer(200));
    assertEquals(
        "succeeded",
        api.post(hooks.make(receiver.url(), "agent.deleted") + "/test", null).get("state"));
    assertEquals(requests + 1, receiver.requests().size());
    assertEquals("pending", api.get(webhook + "/deliveries/" + all.get(1)).get("state"));

    assertEquals("active", api.patch(webhook, "{\"state\": \"active\"}").get("state"));
    assertEquals("succeeded", hooks.ended(webhook, all.get(1)).get("state"));
    assertEquals("succeeded", hooks.ended(webhook, all.get(2)).get("state"));
    assertEquals("failed", api.get(webhook + "/deliveries/" + first).get("state"));
  }

  @Test
  void aWebhookCanBeDeletedWhileSomethingIsBeingSent() {
    receiver.behave(
        (request, socket) -> {
          released.await();
          Receiver.answer(200).handle(request, socket);
        });
    String webhook = hooks.make(receiver.url(), "agent.updated");
    hooks.event("agent.updated", "agent_1");
    hooks.event("agent.updated", "agent_1");
    Await.until("something is being sent", () -> receiver.requests().size() == 1);
    assertEquals(204, api.delete(webhook).status());
    assertEquals(List.of("0"), hooks.query("select count(*) from webhook_delivery"));
    released.countDown();
    Await.until("the answer is read", () -> receiver.open() == 0);
    receiver.behave(Receiver.answer(200));
    String other = hooks.make(receiver.url(), "agent.updated");
    assertEquals("succeeded", api.post(other + "/test", null).get("state"));
    assertEquals(2, receiver.requests().size());
    assertEquals(
        List.of("0"), hooks.query("select count(*) from webhook_attempt where attempt > 1"));
  }
}
