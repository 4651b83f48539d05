package dev.roost.schedule;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import jakarta.persistence.EnumeratedValue;

/** The states of a schedule. */
public enum ScheduleState implements Code {
  ACTIVE,
  PAUSED;

  /** The code of a new schedule's state. */
  static final String DEFAULT = "active";

  @EnumeratedValue private final String code = Code.of(this);

  @Override
  @JsonValue
  public String code() {
    return code;
  }
}
