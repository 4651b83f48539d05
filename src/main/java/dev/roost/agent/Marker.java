package dev.roost.agent;

import java.util.Optional;
import java.util.Set;

/**
 * The grammar of environment markers (PEP 508): comparisons of variables and quoted strings, {@code
 * and}, {@code or} and parentheses. Recursive descent: each character is read once.
 */
final class Marker {
  private static final int MOST_PARENTHESES = 50;

  private static final Set<String> VARIABLES =
      Set.of(
          "python_version",
          "python_full_version",
          "os_name",
          "sys_platform",
          "platform_release",
          "platform_system",
          "platform_version",
          "platform_machine",
          "platform_python_implementation",
          "implementation_name",
          "implementation_version",
          "extra");

  private static final String[] OPERATORS = {"===", "==", "~=", "!=", "<=", ">=", "<", ">"};

  private final String text;
  private int at;
  private int depth;

  private Marker(String text) {
    this.text = text;
  }

  /** A syntax error in the marker; the message is the rest of a sentence. */
  private static final class Mistake extends Exception {
    Mistake(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * Finds the syntax error of a marker.
   *
   * @return the rest of a sentence, for example "a string is not closed"; empty: the marker is
   *     valid
   */
  static Optional<String> mistake(String text) {
    Marker marker = new Marker(text);
    try {
      marker.alternatives();
      if (marker.at < text.length()) {
        throw new Mistake("something follows that is neither \"and\" nor \"or\"");
      }
      return Optional.empty();
    } catch (Mistake e) {
      return Optional.of(e.getMessage());
    }
  }

  private void alternatives() throws Mistake {
    do {
      conditions();
    } while (takeWord("or"));
  }

  private void conditions() throws Mistake {
    do {
      condition();
    } while (takeWord("and"));
  }

  private void condition() throws Mistake {
    if (take("(")) {
      if (++depth > MOST_PARENTHESES) {
        throw new Mistake("it has more than " + MOST_PARENTHESES + " nested parentheses");
      }
      alternatives();
      depth--;
      if (!take(")")) {
        throw new Mistake("a parenthesis is not closed");
      }
      return;
    }
    boolean left = variable();
    operator();
    boolean right = variable();
    if (!left && !right) {
      throw new Mistake("two strings are compared");
    }
  }

  /** Reads an operand: true for a variable, false for a string. */
  private boolean variable() throws Mistake {
    skipSpace();
    char quote = at < text.length() ? text.charAt(at) : 0;
    if (quote == '"' || quote == '\'') {
      int end = text.indexOf(quote, at + 1);
      if (end < 0) {
        throw new Mistake("a string is not closed");
      }
      for (int i = at + 1; i < end; i++) {
        char c = text.charAt(i);
        if (c < ' ' && c != '\t' || c > '~' || c == '\\') {
          throw new Mistake("a string may hold printable ASCII only, and no backslash");
        }
      }
      at = end + 1;
      return false;
    }
    String word = word();
    if (!VARIABLES.contains(word)) {
      throw new Mistake("a variable such as python_version, or a quoted string, is missing");
    }
    at += word.length();
    return true;
  }

  private void operator() throws Mistake {
    for (String operator : OPERATORS) {
      if (take(operator)) {
        return;
      }
    }
    boolean negated = takeWord("not");
    if (!takeWord("in")) {
      throw new Mistake(negated ? "\"in\" is missing after \"not\"" : "a comparison is missing");
    }
  }

  private boolean take(String expected) {
    skipSpace();
    boolean found = text.startsWith(expected, at);
    at += found ? expected.length() : 0;
    return found;
  }

  private boolean takeWord(String expected) {
    skipSpace();
    boolean found = word().equals(expected);
    at += found ? expected.length() : 0;
    return found;
  }

  /** The word at the current position, possibly empty; does not advance the position. */
  private String word() {
    int end = at;
    while (end < text.length() && isWord(text.charAt(end))) {
      end++;
    }
    return text.substring(at, end);
  }

  private static boolean isWord(char c) {
    return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
  }

  private void skipSpace() {
    while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\t')) {
      at++;
    }
  }
}
