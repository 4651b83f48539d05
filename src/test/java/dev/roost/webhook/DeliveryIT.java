package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From an event to a receiver, and what comes of receivers that fail. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
@TestProfile(LoopbackAllowed.class)
class DeliveryIT {
  @Inject DataSource database;

  private final Receiver receiver = new Receiver();
  private final CountDownLatch released = new CountDownLatch(1);
  private Api api;
  private Hooks hooks;

  @BeforeEach
  void prepare() {
    api = Api.as(Role.WRITE);
    hooks = new Hooks(api, database);
  }

  @AfterEach
  void end() {
    released.countDown();
    hooks.update("delete from webhook");
    receiver.close();
  }

  @Test
  void anEventArrivesSignedAndAsACloudEvent() {
    Answer made =
        api.post(
            "/v1/webhooks",
            "{\"url\": \"%s\", \"event_types\": [\"execution.failed\"]}"
                .formatted(receiver.url().replace("127.0.0.1", "hooks.test")));
    String webhook = "/v1/webhooks/" + made.get("id");
    hooks.event("execution.failed", "exec_1", "agent_1", "{\"n\" : 1.10}");
    String id = hooks.deliveries(webhook, 1).get(0);
    Answer delivery = hooks.ended(webhook, id);
    assertEquals("succeeded", delivery.get("state"));
    assertEquals(204, (int) delivery.get("status"));
    assertEquals(1, (int) delivery.get("attempts"));
    assertNull(delivery.get("message"));
    assertNull(delivery.get("next_attempt_at"));
    assertNotNull(delivery.get("finished_at"));

    Receiver.Request request = receiver.requests().get(0);
    assertEquals("application/cloudevents+json", request.header("content-type"));
    assertEquals("hooks.test:" + receiver.port(), request.header("host"));
    assertEquals(id, request.header("webhook-id"));
    long seconds = Long.parseLong(request.header("webhook-timestamp"));
    assertTrue(Math.abs(System.currentTimeMillis() / 1_000 - seconds) < 300);
    assertEquals(
        Signature.header(List.of(made.<String>get("secret")), id, seconds, request.body()),
        request.header("webhook-signature"));
    assertTrue(request.text().endsWith("\"data\":{\"n\" : 1.10}}"), request.text());
    assertTrue(delivery.text().contains("\"request\":" + request.text()), delivery.text());
    assertEquals("exec_1", delivery.get("subject"));
    assertEquals(delivery.<String>get("event_id"), delivery.<String>get("request.id"));
    assertEquals("dev.roost.execution.failed", delivery.get("request.type"));
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
    assertEquals("the receiver answered 500: busy", first.get("message"));
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
  void onlyThoseWhoAskForAnEventGetIt() {
    String all = hooks.make(receiver.url(), "*");
    String failed = hooks.make(receiver.url(), "execution.failed", "builder_job.*");
    String agent = hooks.make(receiver.url(), "execution.*");
    hooks.update(
        "update webhook set agent_id = 'agent_7' where id = '%s'".formatted(Hooks.id(agent)));
    String disabled = hooks.make(receiver.url(), "*");
    hooks.update(
        "update webhook set state = 'disabled' where id = '%s'".formatted(Hooks.id(disabled)));
    hooks.event("execution.failed", "exec_1", "agent_7", "{}");
    hooks.event("execution.failed", "exec_2", "agent_8", "{}");
    hooks.event("execution.succeeded", "exec_3", "agent_7", "{}");
    hooks.event("execution.succeeded", "exec_4", null, "{}");
    hooks.event("builder_job.queued", "bjob_1", "agent_8", "{}");
    hooks.placed();
    assertEquals(List.of("exec_1", "exec_3"), subjects(agent));
    assertEquals(List.of("exec_1", "exec_2", "bjob_1"), subjects(failed));
    assertEquals(List.of(), subjects(disabled));
    // With the event of the one that was disabled.
    List<String> subjects = subjects(all);
    assertTrue(
        subjects.containsAll(
            List.of("exec_1", "exec_2", "exec_3", "exec_4", "bjob_1", Hooks.id(disabled))),
        subjects.toString());
  }

  @Test
  void aTestGoesToItsWebhookOnlyAndAnswersWhatCameOfIt() {
    String other = hooks.make(receiver.url(), "*");
    String webhook = hooks.make(receiver.url(), "schedule.skipped");
    Answer tested = api.post(webhook + "/test", null);
    assertEquals(200, tested.status(), tested.text());
    assertEquals("succeeded", tested.get("state"));
    assertEquals("webhook.test", tested.get("event_type"));
    assertEquals(Hooks.id(webhook), tested.get("subject"));
    assertEquals(Hooks.id(webhook), tested.get("request.data.id"));
    assertEquals(204, (int) tested.get("status"));
    receiver.behave(Receiver.answer(503));
    Answer failed = api.post(webhook + "/test", null);
    assertEquals("failed", failed.get("state"));
    assertEquals(503, (int) failed.get("attempts_log[0].status"));
    receiver.behave(Receiver.hang());
    Answer late = api.post(webhook + "/test", null);
    assertEquals("failed", late.get("state"));
    assertTrue(late.<String>get("message").contains("within 2 s"), late.text());
    assertEquals(0, subjects(other).size());
    assertEquals("active", api.get(webhook).get("state"));
    assertEquals(
        List.of("failed", "failed", "succeeded"),
        api.get(webhook + "/deliveries").get("data.state"));
    assertEquals(
        1, api.get(webhook + "/deliveries?state=succeeded").<List<String>>get("data.id").size());
    assertEquals(
        0, api.get(webhook + "/deliveries?event_type=x").<List<String>>get("data.id").size());
    Answer page = api.get(webhook + "/deliveries?limit=2");
    Answer rest = api.get(webhook + "/deliveries?limit=2&cursor=" + page.get("next_cursor"));
    assertEquals(List.of("succeeded"), rest.get("data.state"));
    assertNull(rest.get("next_cursor"));
    api.patch(webhook, "{\"state\": \"disabled\"}");
    assertEquals(409, api.post(webhook + "/test", null).status());
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
              .computeIfAbsent(
                  data[0], subject -> new java.util.concurrent.CopyOnWriteArrayList<>())
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
      hooks.make(receiver.url(), "execution.*");
      String healthy = hooks.make(other.url(), "agent.updated");
      for (int i = 0; i < 100; i++) {
        hooks.event("execution.failed", "exec_" + i);
      }
      Await.until("the receiver hangs", () -> receiver.requests().size() >= Slots.EACH);
      long begun = System.nanoTime();
      for (int i = 0; i < 100; i++) {
        hooks.event("agent.updated", "agent_" + i);
      }
      hooks.deliveries(healthy, 100);
      Await.until("the other has all", () -> other.requests().size() == 100);
      long millis = (System.nanoTime() - begun) / 1_000_000;
      assertTrue(millis < 10_000, millis + " ms");
      assertTrue(receiver.open() <= Slots.EACH, receiver.open() + " connections");
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
    assertEquals(List.of(Hooks.id(webhook)), subjects(watcher));
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
  void aDeliveryIsSentAgainUnderItsIdentifier() {
    String webhook = hooks.make(receiver.url(), "agent.updated");
    hooks.event("agent.updated", "agent_1");
    String id = hooks.deliveries(webhook, 1).get(0);
    hooks.ended(webhook, id);
    Answer again = api.post(webhook + "/deliveries/" + id + "/replay", null);
    assertEquals(202, again.status(), again.text());
    assertEquals(id, again.get("id"));
    Answer sent = hooks.tried(webhook, id, 2);
    assertEquals("succeeded", hooks.ended(webhook, id).get("state"));
    assertEquals(List.of(204, 204), sent.get("attempts_log.status"));
    assertEquals(2, receiver.requests().size());
    assertEquals(
        receiver.requests().get(0).header("webhook-id"),
        receiver.requests().get(1).header("webhook-id"));
    assertEquals(404, api.post(webhook + "/deliveries/dlv_x/replay", null).status());
  }

  @Test
  void whatWasMissedIsSentFromAPositionOn() {
    receiver.behave(Receiver.answer(410));
    String webhook = hooks.make(receiver.url(), "agent.updated");
    hooks.event("agent.updated", "agent_0");
    String failed = hooks.deliveries(webhook, 1).get(0);
    String position = hooks.ended(webhook, failed).get("event_id");
    for (int i = 1; i <= 3; i++) {
      hooks.event("agent.updated", "agent_" + i);
    }
    hooks.event("agent.deleted", "agent_4");
    hooks.placed();
    hooks.deliveries(webhook, 1);
    receiver.behave(Receiver.answer(200));
    assertEquals("active", api.patch(webhook, "{\"state\": \"active\"}").get("state"));
    Answer after = api.post(webhook + "/replay", "{\"after\": \"%s\"}".formatted(position));
    assertEquals(202, after.status(), after.text());
    assertEquals(3, (int) after.get("deliveries"));
    List<String> ids = hooks.deliveries(webhook, 4);
    for (String id : ids.subList(1, 4)) {
      assertEquals("succeeded", hooks.ended(webhook, id).get("state"));
    }
    long before = Long.parseLong(position) - 1;
    Answer all = api.post(webhook + "/replay", "{\"after\": \"%d\"}".formatted(before));
    assertEquals(1, (int) all.get("deliveries"), "the failed one");
    assertEquals("succeeded", hooks.ended(webhook, failed).get("state"));
    Answer none = api.post(webhook + "/replay", "{\"after\": \"%d\"}".formatted(before));
    assertEquals(0, (int) none.get("deliveries"));
  }

  @Test
  void forADayTwoSecretsSign() {
    Answer made =
        api.post(
            "/v1/webhooks",
            "{\"url\": \"%s\", \"event_types\": [\"agent.*\"]}".formatted(receiver.url()));
    String webhook = "/v1/webhooks/" + made.get("id");
    String old = made.get("secret");
    String fresh = api.patch(webhook, "{\"rotate_secret\": true}").get("secret");
    api.post(webhook + "/test", null);
    assertSigned(receiver.requests().get(0), fresh, old);
    hooks.update("update webhook set previous_secret_until = now()");
    api.post(webhook + "/test", null);
    assertSigned(receiver.requests().get(1), fresh);
  }

  private static void assertSigned(Receiver.Request request, String... secrets) {
    assertEquals(
        Signature.header(
            List.of(secrets),
            request.header("webhook-id"),
            Long.parseLong(request.header("webhook-timestamp")),
            request.body()),
        request.header("webhook-signature"));
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

  @Test
  void nothingOfASecretIsInEvents() {
    receiver.behave(Receiver.answer(410));
    String webhook = hooks.make(receiver.url(), "agent.updated");
    hooks.event("agent.updated", "agent_1");
    hooks.ended(webhook, hooks.deliveries(webhook, 1).get(0));
    hooks.placed();
    assertEquals(List.of("0"), hooks.query("select count(*) from event where data like '%whsec%'"));
    assertFalse(api.get("/v1/events?types=webhook.*&limit=200").text().contains("whsec"));
  }

  /** Of all deliveries of a webhook, in the order of the events. */
  private List<String> subjects(String webhook) {
    List<String> subjects =
        new ArrayList<>(
            api.get(webhook + "/deliveries?limit=200").<List<String>>get("data.subject"));
    java.util.Collections.reverse(subjects);
    return subjects;
  }
}
