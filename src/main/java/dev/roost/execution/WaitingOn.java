package dev.roost.execution;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** What a queued ExecutorJob waits for. */
public enum WaitingOn implements Code {
  BUILD,
  RETRY_DELAY,
  STORAGE,
  CONCURRENCY,
  CAPACITY,
  EXECUTOR;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
