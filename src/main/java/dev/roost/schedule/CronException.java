package dev.roost.schedule;

/** A cron expression is invalid or never matches; the message says what to write. */
public class CronException extends RuntimeException {
  CronException(String message) {
    super(message);
  }
}
