package dev.roost.runtime;

/** What a runtime sees of a build or an executor when it looks. */
public sealed interface Observation {
  /** Nothing of that name exists. */
  record Absent() implements Observation {}

  /**
   * It exists and does not run yet.
   *
   * @param message why, when the runtime knows; otherwise null
   */
  record Pending(String message) implements Observation {}

  record Running() implements Observation {}

  /**
   * It has ended.
   *
   * @param message how, for a person
   * @param result the last line that a build printed, a JSON object; null when it printed none, and
   *     for executors
   */
  record Ended(String message, String result) implements Observation {}
}
