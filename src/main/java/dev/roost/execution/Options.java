package dev.roost.execution;

import dev.roost.api.Body;
import dev.roost.api.Text;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How a job is run.
 *
 * @param priority jobs of an agent with a higher priority are run first
 * @param concurrencyKey of an agent's jobs with the same key, one runs at a time; or null
 * @param scheduleId the schedule that was triggered manually, or null
 * @param draft the script to run instead of the revision's; or null
 * @param files what the script reads: identifiers of files by the names that it knows them by
 */
public record Options(
    int priority,
    String concurrencyKey,
    String scheduleId,
    String draft,
    SortedMap<String, String> files) {
  public static final Options NONE = new Options(0, null, null, null);

  public Options(int priority, String concurrencyKey, String scheduleId, String draft) {
    this(priority, concurrencyKey, scheduleId, draft, Collections.emptySortedMap());
  }

  static final int HIGHEST_PRIORITY = 100;
  private static final int LONGEST_KEY = 255;
  private static final int MOST_FILES = 100;

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
    return new Options(priority, key, null, null, files(body));
  }

  private static SortedMap<String, String> files(Body body) {
    SortedMap<String, String> files = new TreeMap<>(body.texts("files").orElse(Map.of()));
    if (files.size() > MOST_FILES) {
      body.reject("files", "out_of_range", "A job can have at most " + MOST_FILES + " files.");
    }
    for (String name : files.keySet()) {
      if (name.isEmpty() || name.length() > LONGEST_KEY || Text.unstorable(name).isPresent()) {
        body.reject(
            "files",
            "out_of_range",
            "The names of files must have 1 to " + LONGEST_KEY + " printable characters.");
      }
    }
    return files;
  }

  Options withDraft(String script) {
    return new Options(priority, concurrencyKey, scheduleId, script, files);
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
    if (draft != null) {
      options += "\ndraft\n" + draft;
    }
    return files.isEmpty() ? options : options + "\nfiles\n" + files;
  }
}
