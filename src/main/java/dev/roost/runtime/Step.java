package dev.roost.runtime;

/** What a reconciler does next about one row: the answer of its pure {@code decide}. */
public sealed interface Step {
  /** Nothing now. */
  record Wait() implements Step {}

  /** It should exist and does not: start it. */
  record Create() implements Step {}

  /**
   * Its end is known: write it down.
   *
   * @param reason the code of a reason, or null when the result speaks for itself
   * @param message for a person, or null
   * @param result a build's last line of output, or null
   */
  record Finish(String reason, String message, String result) implements Step {}

  /**
   * It has ended: take home what its output holds and the link did not bring, then finish.
   *
   * @param reason the code of a reason when one is known; otherwise null
   * @param message how it ended
   */
  record Recover(String reason, String message) implements Step {}
}
