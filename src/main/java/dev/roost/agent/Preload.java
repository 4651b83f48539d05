package dev.roost.agent;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import jakarta.persistence.EnumeratedValue;

/** Whether executors of an agent import modules once, for all executions, or in each execution. */
public enum Preload implements Code {
  /** Executors import in advance what the script imports, as far as that has no side effects. */
  AUTO,
  /** Each execution imports everything itself. */
  OFF;

  @EnumeratedValue private final String code = Code.of(this);

  @Override
  @JsonValue
  public String code() {
    return code;
  }
}
