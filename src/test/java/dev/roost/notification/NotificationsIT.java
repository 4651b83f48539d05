package dev.roost.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.roost.Api;
import dev.roost.Api.Answer;
import dev.roost.Await;
import dev.roost.ChangedSettings;
import dev.roost.TestDatabase;
import dev.roost.api.Ids;
import dev.roost.api.Role;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.issue.FailedRows;
import dev.roost.webhook.Receiver;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What comes of issues and failed builds until somebody reads about them. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
@TestProfile(ChangedSettings.class)
class NotificationsIT {
  private static final String SECRET = "T0SECRET0T";
  private static final String CHANNELS = "/v1/notification-channels";

  @Inject Database database;
  @Inject RoostConfig config;
  @Inject Collector collector;

  private final Receiver slack = new Receiver();
  private Api api;
  private FailedRows rows;

  @BeforeEach
  void begin() {
    api = Api.as(Role.WRITE);
    rows = new FailedRows(database, api);
  }

  @AfterEach
  void end() {
    rows.rows().run("delete from notification_channel");
    slack.close();
  }

  private String make(String json) {
    Answer made = api.post(CHANNELS, json);
    assertEquals(201, made.status(), made.text());
    return made.get("id");
  }

  private String slackChannel(String others) {
    return make(
        """
        {"name": "On-call", "kind": "slack", "url": "%s/%s", "min_interval_seconds": 0 %s}"""
            .formatted(slack.url(), SECRET, others));
  }

  private Answer channel(String id) {
    return api.get(CHANNELS + "/" + id);
  }

  private List<String> states(String id) {
    return api.get(CHANNELS + "/" + id + "/messages").get("data.state");
  }

  private void awaitStates(String id, String... states) {
    Await.until("messages are " + List.of(states), () -> states(id).equals(List.of(states)));
  }

  /** Opens an issue with words of its own, since numbers don't count. */
  private String open(String words) {
    return rows.issueOf(rows.fail(words));
  }

  private static String words(int number) {
    return "cause " + (char) ('a' + number / 26) + (char) ('a' + number % 26);
  }

  @Test
  void aNewIssueIsAMessage() {
    String id = slackChannel("");
    String issue = open("no price");
    awaitStates(id, "succeeded");
    assertEquals(1, slack.requests().size());
    String text = slack.requests().get(0).text();
    assertTrue(text.contains("https://roost.example.org/issues/" + issue), text);
    assertTrue(text.contains("agent.py:3 in total"), text);
    Answer channel = channel(id);
    assertEquals("succeeded", channel.get("latest_message.state"));
    assertNull(channel.get("next_message_at"));
    assertFalse(channel.text().contains(SECRET), channel.text());
  }

  @Test
  void aBurstIsOneMessage() {
    String id = slackChannel("");
    Instant now = Instant.now();
    for (int i = 0; i < 60; i++) {
      rows.fail(words(i), 1, now);
    }
    awaitStates(id, "succeeded");
    assertEquals(1, slack.requests().size());
    assertTrue(
        slack.requests().get(0).text().contains("60 issues in "), slack.requests().get(0).text());
  }

  @Test
  void whatWasResolvedMeanwhileIsNoMessage() {
    String id = slackChannel("");
    String issue = open("soon fixed");
    assertEquals(200, api.post("/v1/issues/" + issue + "/resolve", "").status());
    awaitStates(id, "dropped");
    assertEquals(0, slack.requests().size());
  }

  @Test
  void anIssueThatComesBackIsAMessage() {
    String issue = open("back again");
    api.post("/v1/issues/" + issue + "/resolve", "");
    String id = slackChannel(", \"event_types\": [\"issue.regressed\"]");
    rows.fail("back again", 1, Instant.now().plusMillis(50));
    awaitStates(id, "succeeded");
    assertTrue(slack.requests().get(0).text().contains("Issue is back"));
  }

  @Test
  void anIssueThatGrowsFastIsAMessage() {
    String id = slackChannel(", \"event_types\": [\"issue.growing\"]");
    Instant now = Instant.now().truncatedTo(ChronoUnit.HOURS).plusSeconds(1);
    Instant later = Instant.now();
    for (int i = 0; i < 60; i++) {
      rows.fail("grows", 1, later.isBefore(now) ? now : later);
    }
    awaitStates(id, "succeeded");
    assertTrue(slack.requests().get(0).text().contains("Issue grows fast"));
    for (int i = 0; i < 20; i++) {
      rows.fail("grows", 1, later.isBefore(now) ? now : later);
    }
    String issue = open("grows");
    Await.until(
        "all are counted", () -> api.get("/v1/issues/" + issue).<Integer>get("count") == 81);
    assertEquals(
        List.of("issue.growing", "issue.opened"),
        api.get("/v1/events?after=0&subject=" + issue).<List<String>>get("data.type").stream()
            .sorted()
            .toList());
  }

  @Test
  void aFailedBuildIsAMessageUntilALaterOneSucceeds() {
    String id = slackChannel("");
    build("failed", "No solution found for pandas==99");
    awaitStates(id, "succeeded");
    String text = slack.requests().get(0).text();
    assertTrue(text.contains("No solution found for pandas==99"), text);
    assertTrue(text.contains("https://roost.example.org/agents/" + rows.agent), text);
    build("failed", "again");
    build("succeeded", null);
    awaitStates(id, "dropped", "succeeded");
  }

  private void build(String state, String message) {
    rows.rows()
        .run(
            """
            insert into builder_job (id, agent_id, agent_revision, python_version, requirements, image_key, state,
              message, created_at, finished_at)
            values (?, ?, 2, '3.13', '', 'none', ?, ?, now(), now())""",
            Ids.next("bjob"),
            rows.agent,
            state,
            message);
  }

  @Test
  void onlyWhatTheChannelWantsIsSent() {
    String name = api.get("/v1/agents/" + rows.agent).get("name");
    String other = slackChannel(", \"agents\": [\"another-*\"]");
    String builds = slackChannel(", \"event_types\": [\"builder_job.failed\"]");
    String disabled = slackChannel(", \"state\": \"disabled\"");
    String own =
        slackChannel(", \"agents\": [\"%s*\"]".formatted(name.substring(0, name.length() - 1)));
    open("for one channel");
    awaitStates(own, "succeeded");
    for (String id : List.of(other, builds, disabled)) {
      assertEquals(List.of(), states(id));
      assertNull(channel(id).get("next_message_at"));
    }
  }

  @Test
  void inQuietTimesMessagesAreCollected() {
    String id =
        slackChannel(
            """
            , "quiet_times": [{"days": ["mon", "tue", "wed", "thu", "fri", "sat"], "from": "00:00", "to": "00:00"},
              {"days": ["sun"], "from": "00:00", "to": "23:58"}]""");
    open("at night");
    open("later at night");
    Await.until("they are collected", () -> channel(id).get("next_message_at") != null);
    Instant due = Instant.parse(channel(id).get("next_message_at"));
    assertTrue(due.isAfter(Instant.now().plusSeconds(60)) || isSundayNight(), due.toString());
    assertEquals(List.of(), states(id));
    // The quiet time ends.
    assertEquals(200, api.patch(CHANNELS + "/" + id, "{\"quiet_times\": []}").status());
    rows.rows().run("update notification_channel set due_at = now() where id = ?", id);
    awaitStates(id, "succeeded");
    assertTrue(slack.requests().get(0).text().contains("2 issues in"));
  }

  private static boolean isSundayNight() {
    return Instant.now().toString().matches(".*T23:5[5-9].*");
  }

  @Test
  void theIntervalHoldsBackTheNextMessage() {
    String id = slackChannel("");
    open("first");
    awaitStates(id, "succeeded");
    api.patch(CHANNELS + "/" + id, "{\"min_interval_seconds\": 3600}");
    open("second");
    Await.until("it is collected", () -> channel(id).get("next_message_at") != null);
    Instant due = Instant.parse(channel(id).get("next_message_at"));
    assertTrue(due.isAfter(Instant.now().plus(Duration.ofMinutes(50))), due.toString());
  }

  @Test
  void aReceiverThatAsksToWaitIsLeftAlone() {
    AtomicInteger requests = new AtomicInteger();
    slack.behave(
        (request, socket) ->
            (requests.incrementAndGet() == 1
                    ? Receiver.answer(429, "Retry-After: 1800\r\n", "slow down " + SECRET)
                    : Receiver.answer(200, "", "ok"))
                .handle(request, socket));
    String id = slackChannel("");
    open("too many");
    Await.until("it was tried", () -> channel(id).get("latest_message.error") != null);
    Answer channel = channel(id);
    assertEquals("pending", channel.get("latest_message.state"));
    assertTrue(
        channel.<String>get("latest_message.error").startsWith("the receiver responded with 429"));
    assertFalse(channel.text().contains(SECRET), channel.text());
    Instant next = Instant.parse(channel.get("latest_message.next_attempt_at"));
    assertTrue(next.isAfter(Instant.now().plusSeconds(1_500)), next.toString());
    rows.rows()
        .run("update notification_message set next_attempt_at = now() where channel_id = ?", id);
    awaitStates(id, "succeeded");
  }

  @Test
  void aRemovedReceiverIsNotRetried() {
    slack.behave(Receiver.answer(404, "", "no_service"));
    String id = slackChannel("");
    open("nobody listens");
    awaitStates(id, "failed");
    assertEquals(
        "the receiver responded with 404: no_service", channel(id).get("latest_message.error"));
  }

  @Test
  void aLeaderThatDiesInTheMiddleIsFollowedByAnother() throws InterruptedException {
    CountDownLatch released = new CountDownLatch(1);
    slack.behave(
        (request, socket) -> {
          released.await();
          Receiver.answer(200).handle(request, socket);
        });
    String id = slackChannel("");
    open("sent twice");
    Await.until("it is being sent", () -> slack.requests().size() == 1);
    // What another replica would find after the lease: the message is still pending.
    assertEquals(List.of("pending"), states(id));
    assertEquals(
        1,
        rows.rows()
            .count("notification_message where channel_id = ? and next_attempt_at > now()", id));
    released.countDown();
    awaitStates(id, "succeeded");
  }

  @Test
  void twoReplicasCollectEverythingOnce() {
    String id = slackChannel("");
    for (int i = 0; i < 20; i++) {
      rows.fail(words(i) + " twice", 1, Instant.now());
      collector.collect(); // As another replica that believes that it leads.
    }
    awaitStates(id, "succeeded");
    assertTrue(slack.requests().get(0).text().contains("20 issues in "));
    assertEquals(1, slack.requests().size());
  }

  @Test
  void aTestIsSentAtOnceAndItsResultShown() {
    String id = slackChannel(", \"state\": \"disabled\"");
    Answer sent = api.post(CHANNELS + "/" + id + "/test", "");
    assertEquals("succeeded", sent.get("state"), sent.text());
    assertEquals(1, slack.requests().size());
    slack.behave(Receiver.answer(500, "", "broken"));
    Answer failed = api.post(CHANNELS + "/" + id + "/test", "");
    assertEquals("failed", failed.get("state"));
    assertEquals("the receiver responded with 500: broken", failed.get("error"));
    assertEquals(404, api.post(CHANNELS + "/channel_none/test", "").status());
  }

  @Test
  void mailArrives() throws Exception {
    GreenMail mail =
        new GreenMail(
            new ServerSetup(config.mail().port(), "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
    String id =
        make("{\"name\": \"Team\", \"kind\": \"email\", \"recipients\": [\"team@example.org\"]}");
    Answer down = api.post(CHANNELS + "/" + id + "/test", "");
    assertEquals("failed", down.get("state"));
    assertTrue(
        down.<String>get("error").startsWith("could not connect to the mail server"), down.text());
    mail.start();
    try {
      String issue = open("by mail");
      awaitStates(id, "succeeded", "failed");
      assertTrue(mail.waitForIncomingEmail(10_000, 1));
      var message = mail.getReceivedMessages()[0];
      assertTrue(message.getSubject().startsWith("[Roost] New issue in "), message.getSubject());
      var bytes = new java.io.ByteArrayOutputStream();
      message.writeTo(bytes);
      assertTrue(bytes.toString().contains(issue));
    } finally {
      mail.stop();
    }
  }

  @Test
  void secretsAreInNoLogLine() {
    StringBuffer log = new StringBuffer();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            log.append(line.getMessage()).append(line.getThrown());
            if (line.getParameters() != null) {
              log.append(List.of(line.getParameters()).toString());
            }
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger root = Logger.getLogger("");
    root.addHandler(handler);
    try {
      slack.behave(
          (request, socket) ->
              Receiver.answer(404, "", "no " + request.line()).handle(request, socket));
      String id = slackChannel("");
      Answer failed = api.post(CHANNELS + "/" + id + "/test", "");
      assertEquals("failed", failed.get("state"));
      assertFalse(failed.text().contains(SECRET), failed.text());
      assertTrue(log.indexOf("is not sent") >= 0, log.toString());
      assertTrue(log.indexOf(SECRET) < 0, log.toString());
      Answer bad =
          api.patch(CHANNELS + "/" + id, "{\"url\": \"http://10.0.0.1/" + SECRET + "\", \"x\": 1}");
      assertEquals(422, bad.status());
      assertFalse(bad.text().contains(SECRET), bad.text());
    } finally {
      root.removeHandler(handler);
    }
  }

  @Test
  void badRequestsSayWhatToDo() {
    assertInvalid("/name", "{}");
    assertInvalid("/url", "{\"name\": \"a\", \"kind\": \"slack\"}");
    assertInvalid("/recipients", "{\"name\": \"a\", \"kind\": \"email\"}");
    String email = "{\"name\": \"a\", \"kind\": \"email\", \"recipients\": [\"a@b.example\"]";
    assertInvalid(
        "/recipients/0",
        "{\"name\": \"a\", \"kind\": \"email\", \"recipients\": [\"a@b.example\\r\\nBcc: c@d.e\"]}");
    assertInvalid(
        "/recipients/0",
        "{\"name\": \"a\", \"kind\": \"email\", \"recipients\": [\"A <a@b.example>\"]}");
    assertInvalid("/url", email + ", \"url\": \"https://example.org\"}");
    assertInvalid(
        "/url", "{\"name\": \"a\", \"kind\": \"slack\", \"url\": \"http://169.254.169.254/\"}");
    assertInvalid("/event_types/0", email + ", \"event_types\": [\"agent.created\"]}");
    assertInvalid("/time_zone", email + ", \"time_zone\": \"Berlin\"}");
    assertInvalid(
        "/quiet_times/0/from",
        email
            + ", \"quiet_times\": [{\"days\": [\"mon\"], \"from\": \"25:00\", \"to\": \"07:00\"}]}");
    assertInvalid(
        "/quiet_times/0/days",
        email + ", \"quiet_times\": [{\"from\": \"22:00\", \"to\": \"07:00\"}]}");
    assertInvalid(
        "/quiet_times",
        email
            + ", \"quiet_times\": [{\"days\": [\"mon\",\"tue\",\"wed\",\"thu\",\"fri\",\"sat\",\"sun\"],"
            + " \"from\": \"00:00\", \"to\": \"00:00\"}]}");
    String id = make(email + "}");
    assertEquals(422, api.patch(CHANNELS + "/" + id, "{\"kind\": \"slack\"}").status());
    assertEquals(404, api.patch(CHANNELS + "/channel_none", "{}").status());
    assertEquals(204, api.delete(CHANNELS + "/" + id).status());
    assertEquals(404, api.delete(CHANNELS + "/" + id).status());
    assertEquals(403, Api.as(Role.EXECUTE).get(CHANNELS).status());
  }

  private void assertInvalid(String pointer, String body) {
    Answer answer = api.post(CHANNELS, body);
    assertEquals(422, answer.status(), answer.text());
    assertNotNull(answer.text());
    assertTrue(answer.text().contains("\"" + pointer), pointer + " is not in " + answer.text());
  }
}
