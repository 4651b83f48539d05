package dev.roost.db;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * An enum, each constant of which is its name in lower case outside of Java: in the database, in
 * the API and in metrics. Hibernate reads the code from a field with {@code @EnumeratedValue},
 * where an attribute has {@code @Enumerated(STRING)}; Jackson and the generator of the OpenAPI
 * document from the method with {@code @JsonValue}, for which the enum must be public; {@link Sql}
 * from the method.
 */
public interface Code {
  /** The constant in the database, in the API and in metrics. */
  String code();

  /** The code of a constant, for implementations of {@link #code()}. */
  static String of(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** The codes of these constants. */
  static List<String> of(Collection<? extends Code> constants) {
    return constants.stream().map(Code::code).toList();
  }

  /** The constant with that code; empty for any other text, and for null. */
  static <E extends Enum<E> & Code> Optional<E> find(Class<E> type, String code) {
    return Arrays.stream(type.getEnumConstants())
        .filter(constant -> constant.code().equals(code))
        .findFirst();
  }

  /**
   * The constant of a column.
   *
   * @param code as stored; null: null
   * @throws IllegalArgumentException for any other text, which the column's constraint excludes
   */
  static <E extends Enum<E> & Code> E parse(Class<E> type, String code) {
    return code == null
        ? null
        : find(type, code)
            .orElseThrow(() -> new IllegalArgumentException(type.getSimpleName() + ": " + code));
  }
}
