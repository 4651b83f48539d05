package dev.roost.runtime;

/** What a runtime observes of a build or an executor. */
public sealed interface Observation {
  /** No build or executor of that name exists. */
  record Absent() implements Observation {}

  /**
   * The build or executor exists and does not run yet.
   *
   * @param reason the code of a reason when the cause may last; otherwise null
   * @param message the cause of the wait, for a person, when the runtime knows it; otherwise null
   * @param shortage the resources that others use and this one needs; null when nothing is lacking
   */
  record Pending(String reason, String message, Shortage shortage) implements Observation {
    public Pending(String reason, String message) {
      this(reason, message, null);
    }
  }

  /**
   * @param problem a failure in a build or executor that still runs, for a person; otherwise null
   */
  record Running(String problem) implements Observation {}

  /**
   * The build or executor has ended.
   *
   * @param reason the code of a reason when the runtime knows one; otherwise null
   * @param message how it ended, for a person
   * @param result the last line of a build's output, a JSON object; null when there is none, and
   *     for executors
   */
  record Ended(String reason, String message, String result) implements Observation {}
}
