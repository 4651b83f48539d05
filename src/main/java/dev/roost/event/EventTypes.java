package dev.roost.event;

import dev.roost.api.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The types of events: a resource and a change. Database triggers record most events. */
public final class EventTypes {
  /** Every type, in alphabetical order. */
  public static final Set<String> ALL =
      new TreeSet<>(
          Set.of(
              "approval.requested",
              "approval.approved",
              "approval.rejected",
              "approval.expired",
              "approval.cancelled",
              "agent.created",
              "agent.updated",
              "agent.deleted",
              "builder_job.queued",
              "builder_job.running",
              "builder_job.succeeded",
              "builder_job.failed",
              "builder_job.cancelled",
              "executor_job.queued",
              "executor_job.running",
              "executor_job.suspended",
              "executor_job.succeeded",
              "executor_job.failed",
              "executor_job.cancelled",
              "execution.running",
              "execution.suspended",
              "execution.succeeded",
              "execution.failed",
              "execution.timed_out",
              "execution.cancelled",
              "execution.lost",
              "issue.opened",
              "issue.regressed",
              "issue.growing",
              "issue.reopened",
              "issue.resolved",
              "issue.muted",
              "schedule.created",
              "schedule.updated",
              "schedule.paused",
              "schedule.resumed",
              "schedule.deleted",
              "schedule.skipped",
              "datastore.created",
              "datastore.deleted",
              "webhook.disabled",
              "webhook.test"));

  private static final String EVERYTHING = "*";
  private static final String OF_RESOURCE = ".*";

  private EventTypes() {}

  /**
   * The mistake in a pattern; a valid pattern is a type, all types of a resource ({@code
   * execution.*}), or {@code *}.
   */
  public static Optional<String> mistake(String pattern) {
    if (pattern.equals(EVERYTHING) || ALL.contains(pattern)) {
      return Optional.empty();
    }
    Set<String> known = new TreeSet<>(ALL);
    for (String type : ALL) {
      known.add(resource(type) + OF_RESOURCE);
    }
    if (known.contains(pattern)) {
      return Optional.empty();
    }
    String hint =
        Text.nearest(pattern, known).map(near -> " Did you mean " + near + "?").orElse("");
    return Optional.of(
        "There is no event type "
            + Text.quote(pattern)
            + "."
            + hint
            + " docs/events.md lists them.");
  }

  /** The types that match any of these patterns. */
  public static List<String> matching(List<String> patterns) {
    List<String> types = new ArrayList<>();
    for (String type : ALL) {
      if (patterns.contains(EVERYTHING)
          || patterns.contains(type)
          || patterns.contains(resource(type) + OF_RESOURCE)) {
        types.add(type);
      }
    }
    return types;
  }

  private static String resource(String type) {
    return type.substring(0, type.indexOf('.'));
  }
}
