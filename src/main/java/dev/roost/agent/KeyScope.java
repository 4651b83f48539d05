package dev.roost.agent;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import jakarta.persistence.EnumeratedValue;

/** How long a job of an agent has its concurrency key. */
public enum KeyScope implements Code {
  /** While it has an execution: not while it is suspended or waits to be tried again. */
  EXECUTION,
  /** From its first execution until it ends. */
  JOB;

  @EnumeratedValue private final String code = Code.of(this);

  @Override
  @JsonValue
  public String code() {
    return code;
  }
}
