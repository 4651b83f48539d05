package dev.roost.issue;

/**
 * What messages of one cause have in common: the message without the parts that differ from failure
 * to failure. Numbers, hexadecimal numbers, identifiers, times, addresses, paths and quoted texts
 * become {@code #}, and a list of them becomes one.
 *
 * <p>One pass over a limited beginning of the message, without regular expressions: messages come
 * from scripts.
 */
final class MessagePattern {
  private static final int LENGTH = 1_000;
  private static final int LONGEST_WORD = 40;
  private static final int SHORTEST_HEXADECIMAL_WORD = 8;
  private static final char VARIABLE = '#';

  private final String text;
  private final boolean keepQuoted;
  private final StringBuilder pattern = new StringBuilder();
  private int at;

  private MessagePattern(String text, boolean keepQuoted) {
    this.text = text;
    this.keepQuoted = keepQuoted;
  }

  /**
   * @param message or null
   * @param keepQuoted whether quoted texts tell causes apart, as the names of missing modules do
   */
  static String of(String message, boolean keepQuoted) {
    return message == null
        ? ""
        : new MessagePattern(message.substring(0, Math.min(LENGTH, message.length())), keepQuoted)
            .read();
  }

  private String read() {
    while (at < text.length()) {
      char next = text.charAt(at);
      if (isQuote(next) && !keepQuoted && quoted(next)) {
        variable();
      } else if (isPartOfWord(next)) {
        word();
      } else {
        separator(next);
        at++;
      }
    }
    return pattern.toString().strip();
  }

  private static boolean isQuote(char character) {
    return character == '\'' || character == '"' || character == '`';
  }

  private static boolean isPartOfWord(char character) {
    return Character.isLetterOrDigit(character)
        || Character.isSurrogate(character)
        || "_-+.:/\\@%~$&?".indexOf(character) >= 0;
  }

  /** Skips a quoted text of one line; changes nothing when the quotation mark isn't closed. */
  private boolean quoted(char quote) {
    for (int end = at + 1; end < text.length() && text.charAt(end) != '\n'; end++) {
      if (text.charAt(end) == quote) {
        at = end + 1;
        return true;
      }
    }
    return false;
  }

  /** An apostrophe between letters is part of a word, and "=" of a query. */
  private boolean continues(int start, boolean varies) {
    boolean apostrophe =
        text.charAt(at) == '\''
            && at > start
            && at + 1 < text.length()
            && Character.isLetter(text.charAt(at - 1))
            && Character.isLetter(text.charAt(at + 1));
    return apostrophe || (varies && text.charAt(at) == '=');
  }

  private void word() {
    int start = at;
    boolean varies = false;
    boolean hexadecimal = true;
    while (at < text.length() && (isPartOfWord(text.charAt(at)) || continues(start, varies))) {
      char next = text.charAt(at);
      varies |= Character.isDigit(next) || "/\\@".indexOf(next) >= 0;
      hexadecimal &= Character.digit(next, 16) >= 0;
      at++;
    }
    int end = at;
    while (end > start && ".:?-".indexOf(text.charAt(end - 1)) >= 0) {
      end--;
    }
    if (varies
        || end - start > LONGEST_WORD
        || (hexadecimal && end - start >= SHORTEST_HEXADECIMAL_WORD)) {
      variable();
    } else {
      pattern.append(text, start, end);
    }
    pattern.append(text, end, at);
  }

  /** Once for a list of them. */
  private void variable() {
    int end = pattern.length();
    while (end > 0 && " ,;".indexOf(pattern.charAt(end - 1)) >= 0) {
      end--;
    }
    if (end > 0 && pattern.charAt(end - 1) == VARIABLE) {
      pattern.setLength(end);
    } else {
      pattern.append(VARIABLE);
    }
  }

  private void separator(char character) {
    boolean space = Character.isWhitespace(character) || Character.isISOControl(character);
    if (!space) {
      pattern.append(character);
    } else if (!pattern.isEmpty() && pattern.charAt(pattern.length() - 1) != ' ') {
      pattern.append(' ');
    }
  }
}
