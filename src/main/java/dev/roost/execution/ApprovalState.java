package dev.roost.execution;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** The states of an approval. */
public enum ApprovalState implements Code {
  /** Nobody has decided yet. */
  PENDING,
  APPROVED,
  REJECTED,
  /** Nobody has decided in time. */
  EXPIRED,
  /** The job has ended before anybody has decided. */
  CANCELLED;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
