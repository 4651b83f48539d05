package dev.roost.e2e;

/** Finds the exact text of a member in JSON, without making anything of numbers or strings. */
final class ExactJson {
  private final String text;
  private int position;

  private ExactJson(String text) {
    this.text = text;
  }

  /**
   * @param path names of members, from the outermost object inwards
   */
  static String member(String json, String... path) {
    String value = json;
    for (String name : path) {
      value = new ExactJson(value).find(name);
    }
    return value;
  }

  private String find(String name) {
    space();
    position++; // {
    while (true) {
      space();
      int nameStart = position;
      string();
      String found = text.substring(nameStart + 1, position - 1);
      space();
      position++; // :
      space();
      int start = position;
      value();
      if (found.equals(name)) {
        return text.substring(start, position);
      }
      space();
      if (text.charAt(position++) != ',') {
        throw new AssertionError("there is no member " + name);
      }
    }
  }

  /** Not recursive: values may be nested deeply. */
  private void value() {
    int depth = 0;
    do {
      char next = text.charAt(position);
      switch (next) {
        case '"' -> string();
        case '{', '[' -> {
          depth++;
          position++;
        }
        case '}', ']' -> {
          depth--;
          position++;
        }
        case ',', ':', ' ', '\n', '\r', '\t' -> position++;
        default -> word();
      }
    } while (depth > 0);
  }

  private void word() {
    while (position < text.length() && ",:]} \n\r\t".indexOf(text.charAt(position)) < 0) {
      position++;
    }
  }

  private void string() {
    position++;
    while (text.charAt(position) != '"') {
      position += text.charAt(position) == '\\' ? 2 : 1;
    }
    position++;
  }

  private void space() {
    while (" \n\r\t".indexOf(text.charAt(position)) >= 0) {
      position++;
    }
  }
}
