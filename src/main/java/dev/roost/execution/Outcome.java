package dev.roost.execution;

import dev.roost.state.ExecutionState;
import java.time.Instant;
import java.util.List;

/**
 * How an attempt ended.
 *
 * @param state a terminal state of an Execution
 * @param reason null when it succeeded
 * @param error a JSON object with type, message, traceback, line and column; or null
 * @param returnValue JSON text when it succeeded, otherwise null
 * @param returnValueFileId of the file that has all of the return value, whose beginning {@code
 *     returnValue} is; null: returnValue is all of it
 * @param cpuSeconds null when unknown
 * @param maxMemoryBytes null when unknown
 * @param waits for which it was suspended
 */
public record Outcome(
    ExecutionState state,
    ExecutionReason reason,
    String message,
    String error,
    String returnValue,
    String returnValueFileId,
    boolean logsTruncated,
    Double cpuSeconds,
    Long maxMemoryBytes,
    Instant time,
    Waits waits) {
  /**
   * What a script waits for.
   *
   * @param numbers of the entries in the job's history
   * @param all whether it continues when all are over, not the first
   */
  public record Waits(List<Integer> numbers, boolean all) {
    static final Waits NONE = new Waits(List.of(), false);
  }

  public Outcome(
      ExecutionState state,
      ExecutionReason reason,
      String message,
      String error,
      String returnValue,
      boolean logsTruncated,
      Double cpuSeconds,
      Long maxMemoryBytes,
      Instant time) {
    this(
        state,
        reason,
        message,
        error,
        returnValue,
        null,
        logsTruncated,
        cpuSeconds,
        maxMemoryBytes,
        time,
        Waits.NONE);
  }

  /** When nothing is known about why the executor ended. */
  private static final String UNKNOWN_CAUSE = "Its pod was terminated.";

  /**
   * The outcome of an attempt whose executor ended first.
   *
   * @param reason the code of a reason, when it is known why the executor ended
   */
  public static Outcome ofEndedExecutor(String reason, String message, Instant now) {
    ExecutionReason known = ExecutionReason.of(reason).orElse(ExecutionReason.EXECUTOR_LOST);
    return switch (known) {
      case OUT_OF_MEMORY, OUT_OF_DISK ->
          new Outcome(ExecutionState.FAILED, known, message, null, null, false, null, null, now);
      default -> lost("The executor ended before the script did. " + message, now);
    };
  }

  /** Whether the executor reported that it was terminated, which it can't know the cause of. */
  public boolean isUnexplained() {
    return state == ExecutionState.LOST && message == null;
  }

  /**
   * This outcome with the cause of the executor's end, when {@link #isUnexplained}.
   *
   * @param reason the code of a reason, or null
   * @param cause null when it isn't known
   */
  public Outcome because(String reason, String cause) {
    Outcome known = ofEndedExecutor(reason, cause == null ? UNKNOWN_CAUSE : cause, time);
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
    return with(returnValue, returnValueFileId, true, waits);
  }

  /** This outcome, with its return value as the database keeps it. */
  Outcome withReturnValue(LargeValues.Kept kept) {
    return with(kept.text(), kept.fileId(), logsTruncated, waits);
  }

  /** This outcome of an attempt that was suspended for these waits. */
  Outcome withWaits(Waits waits) {
    return with(returnValue, returnValueFileId, logsTruncated, waits);
  }

  private Outcome with(String value, String valueFileId, boolean truncated, Waits waits) {
    return new Outcome(
        state,
        reason,
        message,
        error,
        value,
        valueFileId,
        truncated,
        cpuSeconds,
        maxMemoryBytes,
        time,
        waits);
  }

  /** The outcome of an attempt that ended without reporting one. */
  public static Outcome lost(String message, Instant now) {
    return new Outcome(
        ExecutionState.LOST,
        ExecutionReason.EXECUTOR_LOST,
        message,
        null,
        null,
        false,
        null,
        null,
        now);
  }
}
