package dev.roost.builds;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import jakarta.persistence.EnumeratedValue;

/** How far the removal of a Build's image or environment is. */
public enum RemovalState implements Code {
  DUE,
  /** No build of its image key may start. */
  BEGUN;

  @EnumeratedValue private final String code = Code.of(this);

  @Override
  @JsonValue
  public String code() {
    return code;
  }
}
