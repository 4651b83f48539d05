package dev.roost.execution;

import dev.roost.api.Body;

/**
 * How a job is run.
 *
 * @param priority jobs of an agent with a higher priority are run first
 * @param concurrencyKey of an agent's jobs with the same key, one runs at a time; or null
 * @param scheduleId the schedule that was triggered manually, or null
 * @param draft the script to run instead of the revision's; or null
 */
public record Options(int priority, String concurrencyKey, String scheduleId, String draft) {
  public static final Options NONE = new Options(0, null, null, null);

  static final int HIGHEST_PRIORITY = 100;
  private static final int LONGEST_KEY = 255;

  /** Reads the options from a request's body, which collects errors. */
  static Options read(Body body) {
    String key = body.string("concurrency_key").orElse(null);
    if (key != null && (key.isEmpty() || key.length() > LONGEST_KEY)) {
      body.reject(
          "concurrency_key",
          "out_of_range",
          "concurrency_key must have 1 to " + LONGEST_KEY + " characters.");
    }
    int priority = body.integer("priority", -HIGHEST_PRIORITY, HIGHEST_PRIORITY).orElse(0);
    return new Options(priority, key, null, null);
  }

  Options withDraft(String script) {
    return new Options(priority, concurrencyKey, scheduleId, script);
  }

  /**
   * Adds the options to a request's text, so that the same Idempotency-Key with other options is
   * rejected; without options, returns the text alone.
   */
  String addTo(String text) {
    if (equals(NONE)) {
      return text;
    }
    String options = text + "\n" + priority + " " + scheduleId + " " + concurrencyKey;
    return draft == null ? options : options + "\ndraft\n" + draft;
  }
}
