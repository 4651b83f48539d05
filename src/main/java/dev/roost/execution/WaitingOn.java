package dev.roost.execution;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** What a queued or suspended ExecutorJob waits for. */
public enum WaitingOn implements Code {
  BUILD,
  RETRY_DELAY,
  STORAGE,
  CONCURRENCY,
  CAPACITY,
  EXECUTOR,
  /** Suspended: its script sleeps. */
  TIMER,
  /** Suspended: its script waits for jobs that it has submitted. */
  CALL,
  /** Suspended: its script waits for an event. */
  EVENT,
  /** Suspended: its script waits for a person's decision. */
  APPROVAL;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}
