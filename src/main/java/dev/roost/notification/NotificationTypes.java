package dev.roost.notification;

import java.util.List;

/** The events of which channels notify people. */
final class NotificationTypes {
  static final String OPENED = "issue.opened";
  static final String REGRESSED = "issue.regressed";
  static final String REOPENED = "issue.reopened";
  static final String GROWING = "issue.growing";
  static final String BUILD_FAILED = "builder_job.failed";

  /** The most important first. */
  static final List<String> ALL = List.of(OPENED, REGRESSED, REOPENED, GROWING, BUILD_FAILED);

  private NotificationTypes() {}

  /** What has happened, as a label of a message. */
  static String label(String type) {
    return switch (type) {
      case OPENED -> "New issue";
      case REGRESSED -> "Issue is back";
      case REOPENED -> "Issue reopened";
      case GROWING -> "Issue grows fast";
      case BUILD_FAILED -> "Build failed";
      default -> throw new IllegalArgumentException(type);
    };
  }
}
