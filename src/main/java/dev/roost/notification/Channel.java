package dev.roost.notification;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.db.Code;
import dev.roost.db.Sql;
import java.net.URI;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A notification channel: where messages about issues and failed builds go, and which.
 *
 * @param url of Slack's incoming webhook, which is a secret; null for e-mail
 * @param agents patterns of names; empty: all agents
 * @param latest the latest message that has been attempted; null: there is none
 */
record Channel(
    String id,
    String name,
    ChannelKind kind,
    List<String> recipients,
    String url,
    List<String> agents,
    List<String> eventTypes,
    int minIntervalSeconds,
    QuietTimes quietTimes,
    ChannelState state,
    Instant createdAt,
    Instant updatedAt,
    Instant dueAt,
    Message.View latest) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static Channel read(ResultSet row) throws SQLException {
    return new Channel(
        row.getString("id"),
        row.getString("name"),
        Code.parse(ChannelKind.class, row.getString("kind")),
        strings(row, "recipients"),
        row.getString("url"),
        strings(row, "agents"),
        strings(row, "event_types"),
        row.getInt("min_interval_seconds"),
        new QuietTimes(
            periods(row.getString("quiet_times")), ZoneId.of(row.getString("time_zone"))),
        Code.parse(ChannelState.class, row.getString("state")),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "updated_at"),
        Sql.instant(row, "due_at"),
        null);
  }

  Channel with(Message.View message) {
    return new Channel(
        id,
        name,
        kind,
        recipients,
        url,
        agents,
        eventTypes,
        minIntervalSeconds,
        quietTimes,
        state,
        createdAt,
        updatedAt,
        dueAt,
        message);
  }

  private static List<String> strings(ResultSet row, String column) throws SQLException {
    return List.of((String[]) row.getArray(column).getArray());
  }

  private record Stored(List<String> days, String from, String to) {}

  private static List<QuietTimes.Period> periods(String json) {
    try {
      return JSON.readValue(json, new TypeReference<List<Stored>>() {}).stream()
          .map(
              stored ->
                  new QuietTimes.Period(
                      stored.days().stream()
                          .map(day -> Code.parse(QuietTimes.Day.class, day))
                          .toList(),
                      stored.from(),
                      stored.to()))
          .toList();
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  static String json(List<QuietTimes.Period> periods) {
    try {
      return JSON.writeValueAsString(
          periods.stream()
              .map(period -> new Stored(Code.of(period.days()), period.from(), period.to()))
              .toList());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  boolean wants(String type, String agentName) {
    return eventTypes.contains(type)
        && (agents.isEmpty()
            || agentName != null
                && agents.stream().anyMatch(pattern -> NamePattern.matches(pattern, agentName)));
  }

  /** The text without the URL and its parts, of which the path is the secret. */
  String withoutSecret(String text) {
    if (url == null || text == null) {
      return text;
    }
    String clean = text.replace(url, "…");
    URI uri = URI.create(url);
    String path = uri.getRawPath() + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
    if (path.length() > 1) {
      clean = clean.replace(path, "/…");
    }
    for (String part : path.split("[/?&=]")) {
      if (part.length() >= 8) {
        clean = clean.replace(part, "…");
      }
    }
    return clean;
  }

  /** Omits the URL, which must not get into logs. */
  @Override
  public String toString() {
    return "notification channel " + id;
  }

  /** A channel in the API. */
  @Schema(name = "NotificationChannel")
  record View(
      @Schema(examples = "channel_01jd4m8z6hf0r9w2x3c5v7b8na") String id,
      @Schema(description = "A name for people", examples = "On-call") String name,
      @Schema(description = "email, or slack for an incoming webhook that Slack's format fits")
          ChannelKind kind,
      @Schema(description = "The addresses that receive e-mail; empty for slack")
          List<String> recipients,
      @Schema(
              nullable = true,
              description =
                  "The URL of the incoming webhook, without its secret path; null for email",
              examples = "https://hooks.slack.com/…")
          String url,
      @Schema(
              description =
                  "Only agents with these names; * stands for any characters. Empty for all agents",
              examples = "[\"orders-*\"]")
          List<String> agents,
      @Schema(description = "The events that are sent", examples = "[\"issue.opened\"]")
          List<String> eventTypes,
      @Schema(
              description =
                  "The least time between two messages, in seconds; what happens meanwhile is collected")
          int minIntervalSeconds,
      @Schema(description = "The time zone of the quiet times, IANA", examples = "Europe/Berlin")
          String timeZone,
      @Schema(
              description =
                  "When nothing is sent; what happens meanwhile is sent as one message at the end")
          List<QuietTimes.Period> quietTimes,
      @Schema(description = "disabled: nothing is collected or sent") ChannelState state,
      @Schema(
              nullable = true,
              description = "When collected notifications are sent; null if there are none")
          Instant nextMessageAt,
      @Schema(
              nullable = true,
              description = "The latest message, with its result; null before the first")
          Message.View latestMessage,
      Instant createdAt,
      Instant updatedAt) {
    static View of(Channel channel) {
      return new View(
          channel.id,
          channel.name,
          channel.kind,
          channel.recipients,
          masked(channel.url),
          channel.agents,
          channel.eventTypes,
          channel.minIntervalSeconds,
          channel.quietTimes.zone().getId(),
          channel.quietTimes.periods(),
          channel.state,
          channel.dueAt,
          channel.latest,
          channel.createdAt,
          channel.updatedAt);
    }

    private static String masked(String url) {
      if (url == null) {
        return null;
      }
      URI uri = URI.create(url);
      return uri.getScheme() + "://" + uri.getRawAuthority() + "/…";
    }
  }
}
