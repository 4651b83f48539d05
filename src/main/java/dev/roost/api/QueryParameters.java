package dev.roost.api;

import dev.roost.db.Code;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;

/** Reads the filter parameters of lists. */
public final class QueryParameters {
  /** The last year that RFC 3339 can represent; the database stores years up to 294276. */
  private static final int LAST_YEAR = 9_999;

  private QueryParameters() {}

  /**
   * One or several constants of an enum, separated by commas.
   *
   * @param given the query parameter, or null
   * @return without duplicates; empty: no filter
   * @throws Problem validation_failed
   */
  public static <E extends Enum<E> & Code> List<E> choices(
      String name, String given, Class<E> type) {
    List<String> codes = Code.of(List.of(type.getEnumConstants()));
    return choices(name, given, codes).stream().map(code -> Code.parse(type, code)).toList();
  }

  /**
   * One or several values of a closed list, separated by commas.
   *
   * @param given the query parameter, or null
   * @return without duplicates; empty: no filter
   * @throws Problem validation_failed
   */
  public static List<String> choices(String name, String given, List<String> choices) {
    if (given == null || given.isBlank()) {
      return List.of();
    }
    List<String> values =
        Arrays.stream(given.split(",", -1)).map(String::strip).distinct().toList();
    for (String value : values) {
      if (!choices.contains(value)) {
        String hint =
            Text.nearest(value, choices)
                .map(near -> " Did you mean " + near + "?")
                .orElse(" There are " + String.join(", ", choices) + ".");
        throw Problem.invalid(
            "?" + name, "not_a_choice", name + " can't be " + Text.quote(value) + "." + hint);
      }
    }
    return values;
  }

  /**
   * A truth value.
   *
   * @param given true, false, or null
   * @throws Problem validation_failed
   */
  public static Boolean flag(String name, String given) {
    List<String> values = choices(name, given, List.of("true", "false"));
    if (values.size() > 1) {
      throw Problem.invalid("?" + name, "not_a_choice", name + " must be true or false.");
    }
    return values.isEmpty() ? null : Boolean.valueOf(values.get(0));
  }

  /**
   * A point in time.
   *
   * @param given RFC 3339, or null
   * @throws Problem validation_failed
   */
  public static Instant time(String name, String given) {
    if (given == null) {
      return null;
    }
    try {
      OffsetDateTime time = OffsetDateTime.parse(given);
      if (time.getYear() >= 0 && time.getYear() <= LAST_YEAR) {
        return time.toInstant();
      }
    } catch (DateTimeParseException e) {
      // Reported below, as a year out of range.
    }
    throw Problem.invalid(
        "?" + name,
        "invalid_time",
        name + " must be a time with an offset, for example 2026-11-21T18:12:41Z.");
  }
}
