package dev.roost.issue;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** The states of an issue. */
public enum IssueState implements Code {
  OPEN,
  RESOLVED,
  MUTED;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
