package dev.roost.search;

/** JSON as a person reads it, for search: with the characters in place of their escapes. */
final class SearchedText {
  private SearchedText() {}

  /** Replaces the escapes of JSON; an escape that is cut off at the end stays. */
  static String ofJson(String json) {
    if (json.indexOf('\\') < 0) {
      return json;
    }
    StringBuilder text = new StringBuilder(json.length());
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (c != '\\' || i + 1 == json.length()) {
        text.append(c);
        continue;
      }
      char escaped = json.charAt(++i);
      switch (escaped) {
        case 'n' -> text.append('\n');
        case 'r' -> text.append('\r');
        case 't' -> text.append('\t');
        case 'b', 'f' -> text.append(' ');
        case 'u' -> i = unicode(json, i, text);
        default -> text.append(escaped);
      }
    }
    return text.toString();
  }

  private static int unicode(String json, int at, StringBuilder text) {
    int value = 0;
    for (int i = at + 1; i <= at + 4; i++) {
      int digit = i < json.length() ? Character.digit(json.charAt(i), 16) : -1;
      if (digit < 0) {
        text.append("\\u");
        return at;
      }
      value = 16 * value + digit;
    }
    // PostgreSQL and JSON responses have no place for these.
    text.append(value == 0 || Character.isSurrogate((char) value) ? '\uFFFD' : (char) value);
    return at + 4;
  }
}
