package dev.roost.api;

import dev.roost.db.Code;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/**
 * The order of a list: the code of a key, with a minus before it for descending order.
 *
 * @param <K> the keys of the list
 */
public record Sort<K extends Enum<K> & Code>(K key, boolean descending) {
  private static final String SEPARATOR = "\u0000";

  /**
   * The position after an item in a sorted list.
   *
   * @param value the item's key as text
   */
  public record Position(String value, String id) {}

  /**
   * @param given the query parameter; null: newest first
   * @param newest the key of the time of creation
   * @throws Problem validation_failed
   */
  public static <K extends Enum<K> & Code> Sort<K> of(String given, K newest) {
    if (given == null || given.isBlank()) {
      return new Sort<>(newest, true);
    }
    List<String> choices = choices(newest.getDeclaringClass());
    String chosen = QueryParameters.choices("sort", given, choices).get(0);
    if (!chosen.equals(given.strip())) {
      throw Problem.invalid("?sort", "not_a_choice", "sort must be one value.");
    }
    boolean descending = chosen.startsWith("-");
    String code = descending ? chosen.substring(1) : chosen;
    return new Sort<>(Code.parse(newest.getDeclaringClass(), code), descending);
  }

  /** All values of the query parameter. */
  public static <K extends Enum<K> & Code> List<String> choices(Class<K> keys) {
    return Stream.of(keys.getEnumConstants())
        .map(Code::code)
        .flatMap(code -> Stream.of(code, "-" + code))
        .toList();
  }

  /** "asc" or "desc". */
  public String direction() {
    return descending ? "desc" : "asc";
  }

  /** The operator between an item and the item that it comes after. */
  public String after() {
    return descending ? "<" : ">";
  }

  /** A cursor that belongs to this order alone. */
  public String cursor(String kind, Position position) {
    String text = String.join(SEPARATOR, text(), position.value(), position.id());
    return Cursor.of(
        kind,
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(text.getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * The inverse of {@link #cursor}.
   *
   * @param cursor the query parameter, or null
   * @return null: no cursor
   * @throws Problem validation_failed, also for a cursor of another order
   */
  public Position position(String kind, String cursor) {
    String encoded = Cursor.position(kind, cursor);
    if (encoded == null) {
      return null;
    }
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(encoded);
      String[] parts = new String(bytes, StandardCharsets.UTF_8).split(SEPARATOR, -1);
      if (parts.length == 3 && parts[0].equals(text())) {
        return new Position(parts[1], parts[2]);
      }
    } catch (IllegalArgumentException e) {
      // Not base64: reported below.
    }
    throw Cursor.invalid();
  }

  private String text() {
    return (descending ? "-" : "") + key.code();
  }
}
