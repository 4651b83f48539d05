package dev.roost.state;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import jakarta.persistence.EnumeratedValue;

/** The states of an ExecutorJob. */
public enum ExecutorJobState implements Code {
  /** Also before a further attempt. */
  QUEUED,
  RUNNING,
  /** Its script waits, without a process. */
  SUSPENDED,
  SUCCEEDED,
  FAILED,
  CANCELLED;

  @EnumeratedValue private final String code = Code.of(this);

  @Override
  @JsonValue
  public String code() {
    return code;
  }

  public boolean isFinal() {
    return this == SUCCEEDED || this == FAILED || this == CANCELLED;
  }
}
