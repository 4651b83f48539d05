package dev.roost.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.notification.Composer.Composed;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ComposerTest {
  private static final Instant NOON = Instant.parse("2026-11-25T12:00:00Z");

  private final Composer composer =
      new Composer(
          TestMailSettings.config(Map.of("roost.public-url", "https://roost.example.org/")));

  static Channel channel(String zone, int minInterval, QuietTimes.Period... quiet) {
    return new Channel(
        "channel_1",
        "On-call",
        ChannelKind.SLACK,
        List.of(),
        "https://hooks.example.org/services/T01234567/B01234567/secretsecret?token=abcdefgh",
        List.of(),
        NotificationTypes.ALL,
        minInterval,
        new QuietTimes(List.of(quiet), ZoneId.of(zone)),
        ChannelState.ACTIVE,
        NOON,
        NOON,
        null,
        null);
  }

  private static Item item(int number, String title) {
    return new Item(
        "issue_" + number,
        List.of(NotificationTypes.OPENED, NotificationTypes.GROWING),
        "agent_1",
        "orders",
        title,
        "agent.py:12 in total",
        NOON.minusSeconds(3_600),
        NOON,
        1_200,
        3,
        5);
  }

  private Composed of(List<Item> items, long total) {
    return composer.of(new MessageRepository.Content(channel("Europe/Berlin", 0), items, total, 0));
  }

  @Test
  void aMessageSaysWhatWhereSinceWhenAndHowOften() {
    Composed message = of(List.of(item(1, "KeyError: 'price'")), 1);
    assertEquals(
        "[Roost] New issue, Issue grows fast in orders: KeyError: 'price'", message.subject());
    assertEquals(
        """
        New issue, Issue grows fast in orders: KeyError: 'price'
          Where: agent.py:12 in total
          Since: 2026-11-25 12:00 CET, 1,200 failures, the latest at 2026-11-25 13:00 CET
          Revisions: 3 to 5
          Issue: issue_1
          https://roost.example.org/issues/issue_1

        A muted issue sends no messages: mute it on its page, or with "roost issues mute issue_1".
        Sent by the notification channel "On-call".
        """,
        message.text());
    assertTrue(
        message.slack().contains("<https://roost.example.org/issues/issue_1|KeyError: 'price'>"),
        message.slack());
  }

  @Test
  void manyIssuesAreOneMessageWithASummary() {
    List<Item> items = IntStream.range(0, 20).mapToObj(i -> item(i, "Error " + i)).toList();
    Composed message = of(items, 200);
    assertEquals("[Roost] 200 issues in orders and other agents", message.subject());
    assertTrue(message.text().contains("And 180 more."), message.text());
    assertTrue(message.slack().length() < 40_000);
  }

  @Test
  void textsOfScriptsAreOnlyTexts() {
    Composed message =
        of(List.of(item(1, "<b>&x</b>\r\nBcc: a@b.example @channel <!here> a|b")), 1);
    assertFalse(message.subject().matches("(?s).*[\\r\\n].*"), message.subject());
    assertFalse(message.html().contains("<b>&x"), message.html());
    assertTrue(message.html().contains("&lt;b&gt;&amp;x&lt;/b&gt;"), message.html());
    assertFalse(message.slack().contains("@channel"), message.slack());
    assertFalse(message.slack().contains("<!here>"), message.slack());
  }

  @Test
  void errorsOfReceiversDoNotShowTheSecret() {
    Channel channel = channel("UTC", 0);
    String echo =
        "no route /services/T01234567/B01234567/secretsecret?token=abcdefgh, secretsecret "
            + channel.url();
    String clean = channel.withoutSecret(echo);
    for (String secret : List.of("T01234567", "B01234567", "secretsecret", "abcdefgh")) {
      assertFalse(clean.contains(secret), clean);
    }
    assertEquals("https://hooks.example.org/…", Channel.View.of(channel).url());
    assertFalse(channel.toString().contains("secret"));
  }

  @Test
  void aMessageWaitsForTheIntervalAndForTheEndOfAQuietTime() {
    Duration delay = Duration.ofSeconds(60);
    Channel plain = channel("UTC", 300);
    assertEquals(NOON.plusSeconds(60), Collector.due(plain, null, NOON, delay));
    assertEquals(NOON.plusSeconds(290), Collector.due(plain, NOON.minusSeconds(10), NOON, delay));
    assertEquals(NOON.plusSeconds(60), Collector.due(plain, NOON.minusSeconds(900), NOON, delay));
    Channel quiet =
        channel(
            "UTC", 300, new QuietTimes.Period(List.of(QuietTimes.Day.values()), "12:01", "14:00"));
    assertEquals(Instant.parse("2026-11-25T14:00:00Z"), Collector.due(quiet, null, NOON, delay));
  }
}
