package dev.roost.execution;

import dev.roost.api.JsonText;
import dev.roost.log.LogEntry;

/** What a response that follows a job makes of what happens. */
public interface JobListener<T> {
  /**
   * The script has emitted a value.
   *
   * @param place from which a later response continues
   */
  T value(String place, JsonText json);

  T progress(ScriptProgress progress);

  /** Another attempt begins, with its own values. */
  T restart(int attempt);

  /**
   * @param resource the ExecutorJob.View or Execution.View that is followed
   */
  T end(Object resource);

  /** Nothing has happened for so long that a proxy might close the connection. */
  T idle();

  /** Listens to more: what the job asks people, and what it logs. */
  interface OfCall<T> extends JobListener<T> {
    /** The script asks people; each question comes once. */
    T asked(Approval approval);

    boolean wantsLog();

    /** A line of the log of the latest attempt. */
    T line(LogEntry line);
  }
}
