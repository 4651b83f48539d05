package dev.roost.api;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The position of the next page of a list: the kind of the list, an underscore, and the position of
 * the last item. An identifier is a valid cursor.
 */
public final class Cursor {
  private static final Pattern FORM = Pattern.compile("([a-z]+)_([0-9A-Za-z_-]{0,4000})");

  private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

  private Cursor() {}

  /** The inverse of {@link #position}. */
  public static String of(String kind, Object position) {
    return kind + '_' + position;
  }

  /**
   * An identifier of that kind.
   *
   * @param cursor the query parameter, or null
   * @return null: no cursor
   * @throws Problem validation_failed
   */
  public static String id(String kind, String cursor) {
    String position = position(kind, cursor);
    if (position != null && !position.matches("[0-9a-z]{1,40}")) {
      throw invalid();
    }
    return cursor;
  }

  /**
   * A number from 0.
   *
   * @param cursor the query parameter, or null
   * @return null: no cursor
   * @throws Problem validation_failed
   */
  public static Long number(String kind, String cursor) {
    String position = position(kind, cursor);
    if (position != null && !NUMBER.matcher(position).matches()) {
      throw invalid();
    }
    return position == null ? null : Long.valueOf(position);
  }

  /**
   * The part after the kind.
   *
   * @param cursor the query parameter, or null
   * @throws Problem validation_failed
   */
  public static String position(String kind, String cursor) {
    if (cursor == null) {
      return null;
    }
    Matcher parts = FORM.matcher(cursor);
    if (!parts.matches() || !parts.group(1).equals(kind)) {
      throw invalid();
    }
    return parts.group(2);
  }

  public static Problem invalid() {
    return Problem.invalid(
        "?cursor",
        "invalid_cursor",
        "cursor must be the next_cursor of an earlier page of this list.");
  }
}
