package dev.roost.execution;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** The state of a step. */
public enum StepState implements Code {
  /** A sleep that has not ended. */
  WAITING,
  SUCCEEDED,
  FAILED;

  private final String code = Code.of(this);

  @Override
  @JsonValue
  public String code() {
    return code;
  }
}
