package dev.roost.rollout;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** The states of a rollout. */
public enum RolloutState implements Code {
  RUNNING,
  PAUSED,
  COMPLETED,
  UNDONE;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
