package dev.roost.api;

import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * The search for names by words. Spaces, {@code _}, {@code -} and {@code .} separate the words of a
 * search and of a name. A name is found if it contains each word of the search, in any order,
 * without regard to case; a word that ends with {@code *} has to be the beginning of a word of the
 * name.
 */
public final class NameSearch {
  /** The description of the query parameter. */
  public static final String DESCRIPTION =
      "Only those whose name contains each of these words, in any order; case-insensitive. Spaces, "
          + "_, - and . separate words: \"sync billing\" finds billing_sync. A word followed by * has "
          + "to begin a word of the name";

  private static final int MAX_CHARACTERS = 200;
  private static final Pattern SEPARATORS = Pattern.compile("[\\s_.-]+");

  private NameSearch() {}

  /**
   * The SQL condition that a column's value is found, with the parameter {@code :words} from {@link
   * #words}.
   */
  public static String condition(String column) {
    return """
        not exists (select from unnest(cast(:words as text[])) word
          where strpos(lower(translate(' ' || %s, '_-.', '   ')), lower(word)) = 0)"""
        .formatted(column);
  }

  /**
   * The words of a search; one that has to begin a word has a space before it.
   *
   * @param given the query parameter, or null
   * @return null: no filter
   * @throws Problem validation_failed
   */
  public static String[] words(String parameter, String given) {
    if (given == null) {
      return null;
    }
    if (given.length() > MAX_CHARACTERS) {
      throw Problem.invalid(
          "?" + parameter,
          "too_long",
          parameter + " can have at most " + MAX_CHARACTERS + " characters.");
    }
    return Arrays.stream(SEPARATORS.split(given))
        .map(word -> word.endsWith("*") ? " " + word.replaceFirst("\\*+$", "") : word)
        .filter(word -> !word.isBlank())
        .distinct()
        .toArray(String[]::new);
  }
}
