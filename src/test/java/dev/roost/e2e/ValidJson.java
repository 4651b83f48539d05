package dev.roost.e2e;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Valid JSON texts of the kinds that parsers and databases change. */
final class ValidJson {
  private static final List<String> NUMBERS =
      List.of(
          "0",
          "-0",
          "-0.0",
          "0.0",
          "1.10",
          "1e400",
          "-1E+400",
          "1e-400",
          "1E5",
          "1e+05",
          "100e-2",
          "9007199254740993",
          "18446744073709551616",
          "0.1",
          "123456789.123456789123456789",
          "5e-324",
          "1.7976931348623157e308",
          "2.5",
          "-7");
  private static final List<String> STRINGS =
      List.of(
          "\\u0000",
          "\\ud800",
          "\\udc00\\ud800",
          "\\ud83d\\ude00",
          "\uD83D\uDE00",
          "\\/",
          "/",
          "\\b\\f\\n\\r\\t",
          "\\\"",
          "\\\\",
          "é",
          "e\u0301",
          "\u2028",
          "\\u2028",
          "\u007f",
          "\ufeff",
          "\uffff",
          "a",
          " ",
          "\\u00E9",
          "\\u00e9",
          "'",
          "$",
          "null",
          "__proto__");
  private static final List<String> SPACES = List.of("", "", "", " ", "\n", "\t", "\r\n", "   ");

  private final Random random;
  private final StringBuilder out = new StringBuilder();
  private final boolean withInfinities;

  private ValidJson(Random random, boolean withInfinities) {
    this.random = random;
    this.withInfinities = withInfinities;
  }

  /**
   * @param withInfinities whether numbers may be too large for a double
   */
  static String text(Random random, int depth, boolean withInfinities) {
    ValidJson json = new ValidJson(random, withInfinities);
    json.value(depth);
    return json.out.toString();
  }

  /** A text of about so many bytes. */
  static String large(Random random, int bytes) {
    ValidJson json = new ValidJson(random, false);
    json.out.append('[');
    while (json.out.length() < bytes / 2) { // some characters have three bytes
      json.value(2);
      json.out.append(',');
    }
    return json.out.append("null]").toString();
  }

  private void value(int depth) {
    switch (random.nextInt(depth > 0 ? 9 : 5)) {
      case 0 -> out.append(pick(List.of("true", "false", "null")));
      case 1, 2 -> number();
      case 3, 4 -> string("");
      case 5, 6 -> array(depth);
      default -> object(depth);
    }
  }

  private void number() {
    if (random.nextInt(6) == 0) {
      out.append(random.nextBoolean() ? "-" : "").append(1 + random.nextInt(9));
      int digits = random.nextInt(random.nextInt(20) == 0 ? 5_000 : 60);
      random.ints(digits, 0, 10).forEach(out::append);
      return;
    }
    String number = pick(NUMBERS);
    out.append(
        !withInfinities && number.contains("400") && !number.contains("-400") ? "4" : number);
  }

  private void string(String unique) {
    out.append('"');
    for (int i = random.nextInt(5); i > 0; i--) {
      out.append(pick(STRINGS));
    }
    out.append(unique).append('"');
  }

  private void array(int depth) {
    out.append('[');
    space();
    for (int i = random.nextInt(5); i > 0; i--) {
      value(depth - 1);
      space();
      out.append(i > 1 ? "," : "");
      space();
    }
    out.append(']');
  }

  private void object(int depth) {
    out.append('{');
    space();
    Set<Integer> names = new HashSet<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      names.add(random.nextInt(1_000));
    }
    int left = names.size();
    for (int name : names) {
      string("#" + name); // an object must not have a key twice
      space();
      out.append(':');
      space();
      value(depth - 1);
      space();
      out.append(--left > 0 ? "," : "");
      space();
    }
    out.append('}');
  }

  private void space() {
    out.append(pick(SPACES));
  }

  private String pick(List<String> choices) {
    return choices.get(random.nextInt(choices.size()));
  }
}
