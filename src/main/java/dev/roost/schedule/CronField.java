package dev.roost.schedule;

import java.util.List;
import java.util.Locale;

/** The fields of a cron expression, in their order. */
enum CronField {
  MINUTE("minute", 0, 59, List.of()),
  HOUR("hour", 0, 23, List.of()),
  DAY_OF_MONTH("day of the month", 1, 31, List.of()),
  MONTH(
      "month",
      1,
      12,
      List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")),
  /** Sunday is 0 and 7. */
  DAY_OF_WEEK(
      "day of the week", 0, 7, List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"));

  static final String ORDER = "minute, hour, day of the month, month, day of the week";

  final String title;
  final int lowest;
  final int highest;
  private final List<String> names;

  CronField(String title, int lowest, int highest, List<String> names) {
    this.title = title;
    this.lowest = lowest;
    this.highest = highest;
    this.names = names;
  }

  /** The number of different values. */
  int size() {
    return this == DAY_OF_WEEK ? 7 : highest - lowest + 1;
  }

  /** The unit after which the values repeat. */
  String cycle() {
    return switch (this) {
      case MINUTE -> "hour";
      case HOUR -> "day";
      case DAY_OF_MONTH -> "month";
      case MONTH -> "year";
      case DAY_OF_WEEK -> "week";
    };
  }

  /** Describes the valid terms of this field, for messages. */
  String allowed() {
    String values =
        lowest
            + " to "
            + highest
            + switch (this) {
              case MONTH -> " or JAN to DEC";
              case DAY_OF_WEEK -> " or SUN to SAT";
              default -> "";
            };
    String special =
        switch (this) {
          case DAY_OF_MONTH -> ", L, L-3, 15W, LW";
          case DAY_OF_WEEK -> ", FRIL, MON#2";
          default -> "";
        };
    return values + ", also as a range (a-b), a step (*/n, a-b/n) or a list (a,b)" + special;
  }

  /** Parses a number, or a name in upper case. */
  int value(String text) {
    int name = names.indexOf(text);
    if (name >= 0) {
      return name + lowest;
    }
    if (!isNumber(text)) {
      throw wrong(text, hint(text));
    }
    int value = Integer.parseInt(text);
    if (value < lowest || value > highest) {
      throw wrong(text, "");
    }
    return value;
  }

  /** Whether the text is a number that fits an int. */
  static boolean isNumber(String text) {
    return !text.isEmpty()
        && text.length() <= 4
        && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /** The exception for an invalid term of this field; the hint is a sentence or empty. */
  CronException wrong(String term, String hint) {
    return new CronException(
        "The %s cannot be \"%s\". %sAllowed are %s."
            .formatted(title, shown(term), hint.isEmpty() ? "" : hint + " ", allowed()));
  }

  /** Shortens a text for a message. */
  static String shown(String text) {
    return text.length() > 40 ? text.substring(0, 40) + "…" : text;
  }

  private String hint(String text) {
    if (text.equals("*") || text.equals("?")) {
      return "\"%s\" must stand alone or before a step.".formatted(text);
    }
    if (text.startsWith("H") && !names.contains(text)) {
      return "\"H\" is only supported by Jenkins. To spread runs, set the schedule's jitter.";
    }
    if (text.length() > 3 && names.contains(text.substring(0, 3))) {
      return "Names have three letters: %s.".formatted(text.substring(0, 3));
    }
    for (CronField other : values()) {
      if (other != this && other.names.contains(text)) {
        return "\"%s\" is a %s; the order is %s.".formatted(text, other.title, ORDER);
      }
    }
    return "";
  }

  static String upperCase(String text) {
    return text.toUpperCase(Locale.ROOT);
  }
}
