package dev.roost.api;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.Optional;

/** String functions. */
public final class Text {
  /** Field names are shorter; the time of a comparison grows with the length. */
  private static final int MOST_COMPARED_CHARACTERS = 100;

  private Text() {}

  /** The string in quotation marks, shortened to 80 characters, for messages. */
  public static String quote(String text) {
    String shown = text.length() > 80 ? beginning(text, 79) + "…" : text;
    return '"' + shown.replace("\n", "\\n").replace("\0", "\\0") + '"';
  }

  /** The first characters, without splitting a surrogate pair. */
  public static String beginning(String text, int length) {
    if (text.length() <= length) {
      return text;
    }
    return text.substring(
        0, Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length);
  }

  /** Length of the text in bytes of UTF-8. */
  public static int sizeBytes(String text) {
    return sizeBytes(text, 0, text.length());
  }

  /** Length of a part of the text in bytes of UTF-8; {@code to} is exclusive. */
  static int sizeBytes(String text, int from, int to) {
    int size = 0;
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      // Each half of a surrogate pair counts as two of the four bytes.
      size += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
    }
    return size;
  }

  /**
   * Why PostgreSQL can't store the string unchanged.
   *
   * @return a description with a line number from 1, or empty for a valid string
   */
  public static Optional<Unstorable> unstorable(String text) {
    int line = 1;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\n') {
        line++;
      } else if (c == 0) {
        return Optional.of(new Unstorable(line, "contains a NUL character"));
      } else if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        return Optional.of(new Unstorable(line, "contains half of a surrogate pair"));
      }
    }
    return Optional.empty();
  }

  /**
   * The text with U+FFFD in place of U+0000 and of unpaired surrogates, which PostgreSQL can't
   * store; null for null.
   */
  public static String storable(String text) {
    if (text == null || unstorable(text).isEmpty()) {
      return text;
    }
    StringBuilder clean = new StringBuilder(text.length());
    text.codePoints()
        .map(point -> point == 0 || (point >= 0xd800 && point <= 0xdfff) ? 0xfffd : point)
        .forEach(clean::appendCodePoint);
    return clean.toString();
  }

  public record Unstorable(int line, String detail) {}

  /** The candidate with the smallest edit distance, if close enough to be a typo. */
  public static Optional<String> nearest(String word, Collection<String> candidates) {
    if (word.length() > MOST_COMPARED_CHARACTERS) {
      return Optional.empty();
    }
    return candidates.stream()
        .filter(candidate -> distance(word, candidate) <= Math.max(2, candidate.length() / 3))
        .min(java.util.Comparator.comparingInt(candidate -> distance(word, candidate)));
  }

  /** Levenshtein distance, by dynamic programming with two rows. */
  private static int distance(String a, String b) {
    int[] previous = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] current = new int[b.length() + 1];
      current[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replace = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        current[j] = Math.min(replace, 1 + Math.min(previous[j], current[j - 1]));
      }
      previous = current;
    }
    return previous[b.length()];
  }

  /** SHA-256 of the text in UTF-8, 32 bytes. */
  public static byte[] sha256(String text) {
    return sha256(text.getBytes(StandardCharsets.UTF_8));
  }

  /** SHA-256, 32 bytes. */
  public static byte[] sha256(byte[] bytes) {
    return sha256().digest(bytes);
  }

  /** A digest for data in parts. */
  public static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
