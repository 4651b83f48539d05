package dev.roost.runtime;

/** The next action of a reconciler for one row: the result of its pure {@code decide}. */
public sealed interface Step {
  record Wait() implements Step {}

  /** The build or executor should exist and does not: start it. */
  record Create() implements Step {}

  /**
   * The build or executor has a known end: store it.
   *
   * @param reason the code of a reason, or null when the result suffices
   * @param message for a person, or null
   * @param result a build's last line of output, or null
   */
  record Finish(String reason, String message, String result) implements Step {}

  /**
   * The executor has ended: store the output that did not arrive over the link, then finish.
   *
   * @param reason the code of a reason when one is known; otherwise null
   * @param message how it ended
   * @param silent whether it may still run, and has not reported for too long
   */
  record Recover(String reason, String message, boolean silent) implements Step {
    public Recover(String reason, String message) {
      this(reason, message, false);
    }
  }
}
