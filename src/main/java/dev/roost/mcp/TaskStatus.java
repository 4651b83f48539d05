package dev.roost.mcp;

import java.util.Locale;

/** The states of tasks, as the protocol names them. */
enum TaskStatus {
  WORKING,
  INPUT_REQUIRED,
  COMPLETED,
  FAILED,
  CANCELLED;

  String code() {
    return name().toLowerCase(Locale.ROOT);
  }
}
