package dev.roost.notification;

import dev.roost.api.PublicUrl;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Writes messages: as text, as simple HTML, and in Slack's format. */
@ApplicationScoped
class Composer {
  private static final int SUBJECT_CHARACTERS = 150;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm z", Locale.ENGLISH);

  private final Optional<String> publicUrl;

  Composer(RoostConfig config) {
    this.publicUrl = PublicUrl.of(config);
  }

  /**
   * A message.
   *
   * @param subject one line without control characters
   * @param slack mrkdwn of Slack
   */
  record Composed(String subject, String text, String html, String slack) {}

  /** A part of a message; the line of details is plain text. */
  private record Part(String label, String agent, String title, String link, List<String> lines) {}

  Composed test(Channel channel) {
    String subject = "[Roost] Test of the channel " + channel.name();
    return compose(
        subject,
        "Messages of this channel arrive.",
        List.of(),
        List.of("Roost has sent this because somebody tested the channel."));
  }

  Composed of(MessageRepository.Content content) {
    List<Item> items = content.items();
    ZoneId zone = content.channel().quietTimes().zone();
    long total = content.issues() + content.builds();
    String summary = summary(content);
    String subject =
        total == 1
            ? "[Roost] " + headline(items.get(0)) + ": " + items.get(0).title()
            : "[Roost] " + summary;
    List<String> ends = new ArrayList<>();
    if (total > items.size()) {
      ends.add("And %d more.%s".formatted(total - items.size(), all()));
    }
    if (content.issues() > 0) {
      ends.add(
          "A muted issue sends no messages: mute it on its page, or with \"roost issues mute "
              + firstIssue(items)
              + "\".");
    }
    ends.add("Sent by the notification channel \"" + content.channel().name() + "\".");
    return compose(
        subject,
        total == 1 ? "" : summary + ":",
        items.stream().map(item -> part(item, zone)).toList(),
        ends);
  }

  private static String summary(MessageRepository.Content content) {
    List<String> counts = new ArrayList<>();
    if (content.issues() > 0) {
      counts.add(content.issues() == 1 ? "1 issue" : content.issues() + " issues");
    }
    if (content.builds() > 0) {
      counts.add(content.builds() == 1 ? "1 failed build" : content.builds() + " failed builds");
    }
    List<String> agents =
        content.items().stream().map(Composer::agent).distinct().limit(4).toList();
    boolean more =
        agents.size() > 3 || content.items().size() < content.issues() + content.builds();
    String named = agents.stream().limit(3).collect(Collectors.joining(", "));
    return String.join(" and ", counts) + " in " + named + (more ? " and other agents" : "");
  }

  private static String headline(Item item) {
    return item.types().stream().map(NotificationTypes::label).collect(Collectors.joining(", "))
        + " in "
        + agent(item);
  }

  private static String agent(Item item) {
    return item.agentName() == null ? item.agentId() : item.agentName();
  }

  private static String firstIssue(List<Item> items) {
    return items.stream()
        .filter(item -> !item.isBuild())
        .findFirst()
        .map(Item::subject)
        .orElse("ISSUE");
  }

  private String all() {
    return publicUrl.map(url -> " All issues: " + url + "/issues").orElse("");
  }

  private Part part(Item item, ZoneId zone) {
    List<String> lines = new ArrayList<>();
    if (item.isBuild()) {
      lines.add("Revision %d, at %s".formatted(item.lastRevision(), time(item.latest(), zone)));
    } else {
      if (item.where() != null) {
        lines.add("Where: " + item.where());
      }
      lines.add(
          item.count() == 1
              ? "Since: " + time(item.since(), zone) + ", 1 failure"
              : "Since: %s, %,d failures, the latest at %s"
                  .formatted(time(item.since(), zone), item.count(), time(item.latest(), zone)));
      lines.add(
          item.firstRevision() == item.lastRevision()
              ? "Revision: " + item.firstRevision()
              : "Revisions: " + item.firstRevision() + " to " + item.lastRevision());
      lines.add("Issue: " + item.subject());
    }
    return new Part(
        headline(item),
        agent(item),
        oneLine(item.title()),
        publicUrl.map(url -> url + item.path()).orElse(null),
        lines);
  }

  private static String time(Instant time, ZoneId zone) {
    return time == null ? "unknown" : TIME.format(time.atZone(zone));
  }

  private static Composed compose(
      String subject, String opening, List<Part> parts, List<String> ends) {
    StringBuilder text = new StringBuilder();
    StringBuilder html = new StringBuilder("<div style=\"font-family:sans-serif\">\n");
    StringBuilder slack = new StringBuilder();
    if (!opening.isEmpty()) {
      text.append(opening).append("\n\n");
      html.append("<p>").append(html(opening)).append("</p>\n");
      slack.append(slack(opening)).append('\n');
    }
    for (Part part : parts) {
      text.append(part.label()).append(": ").append(part.title()).append('\n');
      html.append("<p><b>").append(html(part.label())).append(":</b> ");
      slack.append('*').append(slack(part.label())).append(":* ");
      if (part.link() == null) {
        html.append(html(part.title()));
        slack.append(slack(part.title()));
      } else {
        html.append("<a href=\"").append(html(part.link())).append("\">");
        html.append(html(part.title())).append("</a>");
        slack.append('<').append(slack(part.link())).append('|').append(slack(part.title()));
        slack.append('>');
      }
      slack.append('\n');
      for (String line : part.lines()) {
        text.append("  ").append(line).append('\n');
        html.append("<br>\n").append(html(line));
        slack.append(slack(line)).append('\n');
      }
      if (part.link() != null) {
        text.append("  ").append(part.link()).append('\n');
      }
      text.append('\n');
      html.append("</p>\n");
      slack.append('\n');
    }
    for (String end : ends) {
      text.append(end).append('\n');
      html.append("<p style=\"color:#666\">").append(html(end)).append("</p>\n");
      slack.append(slack(end)).append('\n');
    }
    return new Composed(
        Text.beginning(oneLine(subject), SUBJECT_CHARACTERS),
        text.toString(),
        html.append("</div>\n").toString(),
        slack.toString());
  }

  /** Without control characters, so that no text can begin another header. */
  static String oneLine(String text) {
    return text.replaceAll("[\\p{Cntrl}\\u2028\\u2029]++", " ").strip();
  }

  static String html(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  /**
   * Slack's three escapes; and after each @ a zero-width space, since programs that understand
   * Slack's format notify everybody for a plain {@code @channel}.
   */
  static String slack(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("@", "@\u200b")
        .replace("|", "\u00a6");
  }
}
