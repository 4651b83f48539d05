package dev.roost.notification;

import java.time.Duration;

/**
 * The result of an attempt to send a message.
 *
 * @param error what failed, for a person; null: nothing
 * @param sent whether the message has arrived, at one recipient at least
 * @param permanent whether another attempt would fail in the same way
 * @param retryAfter how long the receiver asks to wait; null: it does not
 */
record SendResult(String error, boolean sent, boolean permanent, Duration retryAfter) {
  static SendResult succeeded() {
    return new SendResult(null, true, false, null);
  }

  static SendResult partly(String error) {
    return new SendResult(error, true, false, null);
  }

  static SendResult failed(String error) {
    return new SendResult(error, false, false, null);
  }

  static SendResult rejected(String error) {
    return new SendResult(error, false, true, null);
  }
}
