package dev.roost.state;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import jakarta.persistence.EnumeratedValue;

/** The states of a BuilderJob. */
public enum BuilderJobState implements Code {
  QUEUED,
  RUNNING,
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
    return this != QUEUED && this != RUNNING;
  }

  /** Whether it ended without a Build. */
  public boolean isFailure() {
    return this == FAILED || this == CANCELLED;
  }
}
