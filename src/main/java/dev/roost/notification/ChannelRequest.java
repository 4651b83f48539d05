package dev.roost.notification;

import dev.roost.api.Body;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import dev.roost.db.Code;
import dev.roost.webhook.Addresses;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The fields of a notification channel to create or to change; null: left out. */
@Schema(name = "NotificationChannelRequest")
record ChannelRequest(
    @Schema(description = "A name for people, up to 100 characters", examples = "On-call")
        String name,
    @Schema(description = "Required in a creation; it cannot be changed") ChannelKind kind,
    @Schema(
            description = "Only for email, where it is required: 1 to 20 addresses",
            examples = "[\"oncall@example.org\"]")
        List<String> recipients,
    @Schema(
            description =
                "Only for slack, where it is required: the URL of an incoming webhook. It is a secret, so "
                    + "responses show only its beginning",
            examples = "https://hooks.slack.com/services/T000/B000/secret")
        String url,
    @Schema(
            description =
                "Only agents with these names, up to 50; * stands for any characters. Empty (the default) "
                    + "for all agents",
            examples = "[\"orders-*\"]")
        List<String> agents,
    @Schema(
            description =
                "issue.opened, issue.regressed, issue.reopened, issue.growing, builder_job.failed; by "
                    + "default all",
            examples = "[\"issue.opened\", \"issue.regressed\"]")
        List<String> eventTypes,
    @Schema(
            description =
                "The least time between two messages, in seconds, up to a day; 300 by default")
        Integer minIntervalSeconds,
    @Schema(
            description = "The time zone of the quiet times, IANA; UTC by default",
            examples = "Europe/Berlin")
        String timeZone,
    @Schema(description = "When nothing is sent, up to 20 entries; none by default")
        List<QuietTimes.Period> quietTimes,
    @Schema(description = "disabled: nothing is collected or sent; active by default")
        ChannelState state) {
  private static final int MAX_NAME = 100;
  private static final int MAX_RECIPIENTS = 20;
  private static final int MAX_ADDRESS = 254;
  private static final int MAX_AGENTS = 50;
  private static final int MAX_PATTERN = 200;
  private static final int MAX_QUIET_TIMES = 20;
  private static final int DAY_SECONDS = 86_400;

  /**
   * An address as HTML's input of type email accepts it (WHATWG, "valid e-mail address"), of which
   * no character has a meaning in a header. Possessive, so that no text takes long.
   */
  private static final Pattern ADDRESS =
      Pattern.compile(
          "[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
              + "(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*+");

  private static final Pattern TIME = Pattern.compile("(?:[01]\\d|2[0-3]):[0-5]\\d");

  static boolean isAddress(String text) {
    return text.length() <= MAX_ADDRESS && ADDRESS.matcher(text).matches();
  }

  /**
   * @throws Problem malformed_json, validation_failed
   */
  static ChannelRequest toMake(byte[] utf8, Addresses addresses, boolean mailIsConfigured) {
    Body body = Body.parse(utf8);
    body.require("name");
    body.require("kind");
    ChannelKind kind = body.choice("kind", ChannelKind.class).orElse(null);
    if (kind != null) {
      body.require(kind == ChannelKind.EMAIL ? "recipients" : "url");
    }
    if (kind == ChannelKind.EMAIL && !mailIsConfigured) {
      body.reject(
          "kind",
          "not_available",
          "This installation has no mail server. Its operator can set roost.mail.host and "
              + "roost.mail.from.");
    }
    ChannelRequest request = read(body, kind, addresses);
    body.check();
    return request;
  }

  /**
   * @throws Problem malformed_json, validation_failed
   */
  static ChannelRequest toChange(byte[] utf8, Channel old, Addresses addresses) {
    Body body = Body.parse(utf8);
    body.choice("kind", ChannelKind.class)
        .filter(kind -> kind != old.kind())
        .ifPresent(
            kind ->
                body.reject(
                    "kind", "immutable", "The kind cannot be changed; create another channel."));
    ChannelRequest request = read(body, old.kind(), addresses);
    body.check();
    return request;
  }

  private static ChannelRequest read(Body body, ChannelKind kind, Addresses addresses) {
    String name = body.string("name").orElse(null);
    if (name != null && (name.isBlank() || name.codePointCount(0, name.length()) > MAX_NAME)) {
      body.reject("name", "out_of_range", "A name must have 1 to " + MAX_NAME + " characters.");
    }
    List<String> recipients = body.strings("recipients").orElse(null);
    if (recipients != null) {
      checkRecipients(body, kind, recipients);
    }
    String url = body.string("url").orElse(null);
    if (url != null && kind == ChannelKind.EMAIL) {
      body.reject("url", "contradiction", "A channel of kind email has recipients, no url.");
    } else if (url != null) {
      addresses.mistake(url).ifPresent(detail -> body.reject("url", "invalid_url", detail));
    }
    List<String> agents = body.strings("agents").orElse(null);
    if (agents != null
        && (agents.size() > MAX_AGENTS
            || agents.stream().anyMatch(one -> one.isEmpty() || one.length() > MAX_PATTERN))) {
      body.reject(
          "agents",
          "out_of_range",
          "agents must have up to %d names of 1 to %d characters."
              .formatted(MAX_AGENTS, MAX_PATTERN));
    }
    List<String> types = body.strings("event_types").orElse(null);
    if (types != null) {
      checkTypes(body, types);
    }
    Integer interval = body.integer("min_interval_seconds", 0, DAY_SECONDS).orElse(null);
    ZoneId zone = body.timeZone("time_zone").orElse(null);
    List<QuietTimes.Period> quiet =
        body.objects("quiet_times", ChannelRequest::period).orElse(null);
    if (quiet != null) {
      checkQuietTimes(body, quiet);
    }
    ChannelState state = body.choice("state", ChannelState.class).orElse(null);
    return new ChannelRequest(
        name,
        kind,
        recipients == null ? null : recipients.stream().distinct().toList(),
        url,
        agents == null ? null : agents.stream().distinct().toList(),
        types == null ? null : types.stream().distinct().toList(),
        interval,
        zone == null ? null : zone.getId(),
        quiet,
        state);
  }

  private static void checkTypes(Body body, List<String> types) {
    String all = String.join(", ", NotificationTypes.ALL);
    if (types.isEmpty() || types.size() > NotificationTypes.ALL.size()) {
      body.reject(
          "event_types", "out_of_range", "event_types must have one or more of " + all + ".");
      return;
    }
    for (int i = 0; i < types.size(); i++) {
      if (!NotificationTypes.ALL.contains(types.get(i))) {
        body.reject("event_types/" + i, "not_a_choice", "An event must be one of " + all + ".");
      }
    }
  }

  private static void checkRecipients(Body body, ChannelKind kind, List<String> recipients) {
    if (kind == ChannelKind.SLACK) {
      body.reject("recipients", "contradiction", "A channel of kind slack has a url.");
      return;
    }
    if (recipients.isEmpty() || recipients.size() > MAX_RECIPIENTS) {
      body.reject(
          "recipients",
          "out_of_range",
          "recipients must have 1 to " + MAX_RECIPIENTS + " addresses.");
      return;
    }
    for (int i = 0; i < recipients.size(); i++) {
      if (!isAddress(recipients.get(i))) {
        body.reject(
            "recipients/" + i,
            "invalid_address",
            Text.quote(Text.beginning(recipients.get(i), 100))
                + " is not an e-mail address. Write only the address, for example "
                + "oncall@example.org.");
      }
    }
  }

  private static QuietTimes.Period period(Body body) {
    body.require("days");
    body.require("from");
    body.require("to");
    List<String> days =
        body.choices("days", Code.of(List.of(QuietTimes.Day.values()))).orElse(List.of());
    String from = time(body, "from");
    String to = time(body, "to");
    return days.isEmpty() || from == null || to == null
        ? null
        : new QuietTimes.Period(
            days.stream().map(day -> Code.parse(QuietTimes.Day.class, day)).sorted().toList(),
            from,
            to);
  }

  private static String time(Body body, String name) {
    String text = body.string(name).orElse(null);
    if (text != null && !TIME.matcher(text).matches()) {
      body.reject(name, "invalid_time", "Write a time from 00:00 to 23:59, for example 22:30.");
      return null;
    }
    return text;
  }

  private static void checkQuietTimes(Body body, List<QuietTimes.Period> quiet) {
    if (quiet.size() > MAX_QUIET_TIMES) {
      body.reject(
          "quiet_times",
          "out_of_range",
          "quiet_times must have up to " + MAX_QUIET_TIMES + " entries.");
    } else if (quiet.contains(null)) {
      body.reject(
          "quiet_times", "invalid_time", "Each of quiet_times must have days, from and to.");
    } else if (new QuietTimes(quiet, ZoneId.of("UTC")).isAlways(Instant.EPOCH)) {
      body.reject(
          "quiet_times",
          "out_of_range",
          "With these quiet times, nothing would ever be sent. To stop a channel, disable it.");
    }
  }

  /** Omits the URL, which must not get into logs. */
  @Override
  public String toString() {
    return "notification channel request";
  }
}
