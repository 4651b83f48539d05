package dev.roost.history;

import java.util.List;

/**
 * One operation on a store: a single one or a whole transaction.
 *
 * @param invoked and returned: nanoseconds of a clock that all processes share; {@link #NEVER} when
 *     nobody saw it return
 */
public record StoreCall(
    String id,
    String process,
    String what,
    long invoked,
    long returned,
    Outcome outcome,
    List<Read> reads,
    List<StoreWrite> writes) {
  public static final long NEVER = Long.MAX_VALUE;

  /** The version of what was written or read by its value alone. */
  public static final long UNSEEN = -1;

  /** What the process was told. */
  public enum Outcome {
    OK,
    /** Nothing was written. */
    FAILED,
    /** It may have been done, or may be done at any time after. */
    UNKNOWN
  }

  StoreCall with(List<Read> otherReads, List<StoreWrite> otherWrites) {
    return new StoreCall(id, process, what, invoked, returned, outcome, otherReads, otherWrites);
  }

  /** The end of the time in which it took effect. */
  long latest() {
    return outcome == Outcome.OK ? returned : NEVER;
  }

  @Override
  public String toString() {
    return "%s %s by %s reads %s writes %s%s"
        .formatted(
            id, what, process, reads, writes, outcome == Outcome.OK ? "" : " (" + outcome + ")");
  }
}
