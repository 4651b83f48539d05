package dev.roost.state;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import jakarta.persistence.EnumeratedValue;

/** The states of an Execution, which is one attempt at an ExecutorJob. */
public enum ExecutionState implements Code {
  RUNNING,
  /** Its process has ended, since the script waits; another Execution continues. */
  SUSPENDED,
  SUCCEEDED,
  FAILED,
  /** It ran longer than the agent's timeout. */
  TIMED_OUT,
  CANCELLED,
  /** Its executor ended before it did. */
  LOST;

  @EnumeratedValue private final String code = Code.of(this);

  @Override
  @JsonValue
  public String code() {
    return code;
  }
}
