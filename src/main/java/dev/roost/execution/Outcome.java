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
  /**
   * The beginning of a runner's message when its pod is being ended: the runner doesn't know why.
   */
  private static final String TOLD_TO_END = "the pod was told to end";

  /**
   * The outcome of an attempt whose executor ended first.
   *
   * @param reason the code of a reason, when it is known why the executor ended
   */
  public static Outcome ofEndedExecutor(String reason, String message, Instant now) {
    ExecutionReason known = ExecutionReason.of(reason).orElse(ExecutionReason.EXECUTOR_LOST);
    return switch (known) {
      case OUT_OF_MEMORY, OUT_OF_DISK ->
          new Outcome("failed", known, message, null, null, false, null, null, now);
      default -> lost("The executor ended before the script did. " + message, now);
    };
  }

  /** Whether the pod was told to end, and the cause is unknown. */
  public boolean isToldToEnd() {
    return state.equals("lost") && message != null && message.startsWith(TOLD_TO_END);
  }

  /** This outcome with the cause of the executor's end, when {@link #isToldToEnd}. */
  public Outcome because(String reason, String cause) {
    Outcome known = ofEndedExecutor(reason, cause, time);
    return new Outcome(
        known.state,
        known.reason,
        known.message,
        null,
        null,
        logsTruncated,
        cpuSeconds,
        maxMemoryBytes,
        time);
  }

  /** This outcome, for an attempt whose log is incomplete. */
  public Outcome withLogsTruncated() {
    return new Outcome(
        state, reason, message, error, returnValue, true, cpuSeconds, maxMemoryBytes, time);
  }

  /** The outcome of an attempt that ended without reporting one. */
  public static Outcome lost(String message, Instant now) {
    return new Outcome(
        "lost", ExecutionReason.EXECUTOR_LOST, message, null, null, false, null, null, now);
  }
}
