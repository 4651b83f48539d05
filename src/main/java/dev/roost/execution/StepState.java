package dev.roost.execution;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** How a step has ended. */
public enum StepState implements Code {
  SUCCEEDED,
  FAILED;

  private final String code = Code.of(this);

  @Override
  @JsonValue
  public String code() {
    return code;
  }
}
