package dev.roost.rollout;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** What has become of an agent of a rollout. */
public enum RolloutAgentState implements Code {
  QUEUED,
  BUILDING,
  UPDATED,
  FAILED,
  SKIPPED,
  UNDONE;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
