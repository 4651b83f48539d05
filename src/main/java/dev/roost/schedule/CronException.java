package dev.roost.schedule;

/** A cron expression that is none, or that never comes true; the message says what to write. */
public class CronException extends RuntimeException {
  CronException(String message) {
    super(message);
  }
}
