package dev.roost.state;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import jakarta.persistence.EnumeratedValue;

/** The states of an executor. */
public enum ExecutorState implements Code {
  STARTING,
  /** It has reported. */
  READY,
  /** It was asked to stop, and gets no more work. */
  STOPPING,
  ENDED;

  @EnumeratedValue private final String code = Code.of(this);

  @Override
  @JsonValue
  public String code() {
    return code;
  }
}
