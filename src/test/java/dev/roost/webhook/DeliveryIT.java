package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.ChangedSettings;
import dev.roost.TestDatabase;
import dev.roost.api.Role;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From an event to a receiver, and sending again. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
@TestProfile(ChangedSettings.class)
class DeliveryIT {
  @Inject DataSource database;

  private final Receiver receiver = new Receiver();
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
  void onlyThoseWhoSubscribeToAnEventGetIt() {
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
    assertEquals(List.of("exec_1", "exec_3"), hooks.subjects(agent));
    assertEquals(List.of("exec_1", "exec_2", "bjob_1"), hooks.subjects(failed));
    assertEquals(List.of(), hooks.subjects(disabled));
    // With the event of the one that was disabled.
    List<String> subjects = hooks.subjects(all);
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
    api.patch(webhook, "{\"url\": \"%s\"}".formatted(receiver.url() + TestSender.HURRIED));
    Answer late = api.post(webhook + "/test", null);
    assertEquals("failed", late.get("state"));
    assertTrue(late.<String>get("message").contains("within 2 s"), late.text());
    assertEquals(0, hooks.subjects(other).size());
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
  void nothingOfASecretIsInEvents() {
    receiver.behave(Receiver.answer(410));
    String webhook = hooks.make(receiver.url(), "agent.updated");
    hooks.event("agent.updated", "agent_1");
    hooks.ended(webhook, hooks.deliveries(webhook, 1).get(0));
    hooks.placed();
    assertEquals(List.of("0"), hooks.query("select count(*) from event where data like '%whsec%'"));
    assertFalse(api.get("/v1/events?types=webhook.*&limit=200").text().contains("whsec"));
  }
}
