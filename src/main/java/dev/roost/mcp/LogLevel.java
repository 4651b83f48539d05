package dev.roost.mcp;

import java.util.Locale;

/** The levels of RFC 5424, from the least to the most severe. */
enum LogLevel {
  DEBUG,
  INFO,
  NOTICE,
  WARNING,
  ERROR,
  CRITICAL,
  ALERT,
  EMERGENCY;

  /** Null: another text, or none. */
  static LogLevel of(String code) {
    for (LogLevel level : values()) {
      if (level.code().equals(code)) {
        return level;
      }
    }
    return null;
  }

  /** Of a line of a log; what isn't from Python's logging is for information. */
  static LogLevel ofLine(String pythonLevel) {
    LogLevel level = pythonLevel == null ? null : of(pythonLevel.toLowerCase(Locale.ROOT));
    return level == null ? INFO : level;
  }

  String code() {
    return name().toLowerCase(Locale.ROOT);
  }

  boolean isAtLeast(LogLevel other) {
    return compareTo(other) >= 0;
  }
}
