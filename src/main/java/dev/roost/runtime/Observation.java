package dev.roost.runtime;

/** What a runtime sees of a build or an executor when it looks. */
public sealed interface Observation {
  /** Nothing of that name exists. */
  record Absent() implements Observation {}

  /**
   * It exists and does not run yet.
   *
   * @param reason the code of a reason when something keeps it from running that may last;
   *     otherwise null
   * @param message what it waits for, for a person, when the runtime knows; otherwise null
   * @param shortage what others have that it needs: it waits as long as that lasts; otherwise null
   */
  record Pending(String reason, String message, Shortage shortage) implements Observation {
    public Pending(String reason, String message) {
      this(reason, message, null);
    }
  }

  /**
   * @param trouble what has failed in it already although it runs, for a person; otherwise null
   */
  record Running(String trouble) implements Observation {}

  /**
   * It has ended.
   *
   * @param reason the code of a reason when the runtime knows one; otherwise null
   * @param message how, for a person
   * @param result the last line that a build printed, a JSON object; null when it printed none, and
   *     for executors
   */
  record Ended(String reason, String message, String result) implements Observation {}
}
