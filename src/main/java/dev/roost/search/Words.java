package dev.roost.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The words of a text: the longest runs of letters, digits and combining marks, without regard to
 * case. All other characters separate words, so {@code order_id=42} has the words order, id and 42.
 */
final class Words {
  /** Longer words, for example of base64, are indexed by their beginning. */
  static final int INDEXED_LENGTH = 64;

  private Words() {}

  /** The places of words in a text, in order: word i is from {@code start(i)} to {@code end(i)}. */
  record Places(int[] bounds, int count) {
    int start(int word) {
      return bounds[2 * word];
    }

    int end(int word) {
      return bounds[2 * word + 1];
    }
  }

  /**
   * In lower case, with the same length. An ASCII letter results from an ASCII letter only, so that
   * the database can look for ASCII text in the same way.
   */
  static String fold(String text) {
    char[] folded = null;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      char lower = Character.toLowerCase(c);
      if (lower != c && (c < 128 || lower >= 128)) {
        if (folded == null) {
          folded = text.toCharArray();
        }
        folded[i] = lower;
      }
    }
    return folded == null ? text : new String(folded);
  }

  static boolean isPart(int character) {
    return Character.isLetterOrDigit(character)
        || Character.getType(character) == Character.NON_SPACING_MARK
        || Character.getType(character) == Character.COMBINING_SPACING_MARK;
  }

  static Places places(String text) {
    int[] bounds = new int[32];
    int count = 0;
    int start = -1;
    for (int i = 0; i <= text.length(); ) {
      int character = i < text.length() ? text.codePointAt(i) : ' ';
      if (isPart(character)) {
        start = start < 0 ? i : start;
      } else if (start >= 0) {
        if (2 * count == bounds.length) {
          bounds = Arrays.copyOf(bounds, 2 * bounds.length);
        }
        bounds[2 * count] = start;
        bounds[2 * count + 1] = i;
        count++;
        start = -1;
      }
      i += Character.charCount(character);
    }
    return new Places(bounds, count);
  }

  static List<String> of(String folded) {
    Places places = places(folded);
    List<String> words = new ArrayList<>(places.count());
    for (int i = 0; i < places.count(); i++) {
      words.add(folded.substring(places.start(i), places.end(i)));
    }
    return words;
  }

  /** Adds the words of a text, as the index has them. */
  static void addIndexed(String text, Set<String> terms) {
    String folded = fold(text);
    Places places = places(folded);
    for (int i = 0; i < places.count(); i++) {
      terms.add(indexed(folded.substring(places.start(i), places.end(i))));
    }
  }

  static String indexed(String word) {
    if (word.length() <= INDEXED_LENGTH) {
      return word;
    }
    boolean splits = Character.isHighSurrogate(word.charAt(INDEXED_LENGTH - 1));
    return word.substring(0, splits ? INDEXED_LENGTH - 1 : INDEXED_LENGTH);
  }
}
