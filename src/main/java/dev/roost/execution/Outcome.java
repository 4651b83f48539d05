package dev.roost.execution;

import java.time.Instant;

/**
 * How an attempt ended.
 *
 * @param state a terminal state of an Execution
 * @param reason null when it succeeded
 * @param error a JSON object with type, message, traceback, line and column; or null
 * @param returnValue JSON text when it succeeded, otherwise null
 * @param cpuSeconds null when unknown
 * @param maxMemoryBytes null when unknown
 */
public record Outcome(
    String state,
    ExecutionReason reason,
    String message,
    String error,
    String returnValue,
    boolean logsTruncated,
    Double cpuSeconds,
    Long maxMemoryBytes,
    Instant time) {

  /** An attempt that ended without a word of its own. */
  public static Outcome lost(String message, Instant now) {
    return new Outcome(
        "lost", ExecutionReason.EXECUTOR_LOST, message, null, null, false, null, null, now);
  }
}
