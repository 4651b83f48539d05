package dev.roost.api;

import java.util.Random;

/** Makes JSON texts, with all that parsers like to change. The same seed makes the same texts. */
public final class RandomJson {
  private static final String[] NUMBERS = {
    "0",
    "-0",
    "-0.0",
    "1.10",
    "1E5",
    "1e+05",
    "1e400",
    "-1e-400",
    "100000000000000000000000000001",
    "0.1000000000000000055511151231257827",
    "9007199254740993",
    "1e999999999"
  };
  private static final String[] PARTS = {
    "a",
    "é",
    "🐔",
    "\\u0000",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\\"",
    "\\\\",
    "\\/",
    "\\n",
    "\u2028",
    "\u007f",
    "}",
    "]",
    ",",
    ":",
    " ",
    "#",
    "\ufeff",
    "\\uFFFF"
  };
  private static final String[] SPACES = {"", "", "", " ", "\n", "\t", "\r\n", "   "};

  private final Random random;
  private int names;

  public RandomJson(long seed) {
    this.random = new Random(seed);
  }

  /** Any JSON value, with white space around it at times. */
  public String value() {
    StringBuilder text = new StringBuilder();
    append(text, 0);
    return text.toString();
  }

  /** A name that this generator hasn't made before, in quotation marks. */
  public String name() {
    return "\"" + names++ + "-" + characters() + '"';
  }

  public int below(int bound) {
    return random.nextInt(bound);
  }

  public String space() {
    return SPACES[random.nextInt(SPACES.length)];
  }

  private void append(StringBuilder text, int depth) {
    text.append(space());
    switch (random.nextInt(depth > 6 ? 4 : 6)) {
      case 0 -> text.append(NUMBERS[random.nextInt(NUMBERS.length)]);
      case 1 -> text.append(random.nextLong()).append('.').append(random.nextInt(1000));
      case 2 -> text.append('"').append(characters()).append('"');
      case 3 -> text.append(new String[] {"true", "false", "null"}[random.nextInt(3)]);
      case 4 -> members(text, depth, '[', ']');
      default -> members(text, depth, '{', '}');
    }
    text.append(space());
  }

  private void members(StringBuilder text, int depth, char open, char close) {
    text.append(open).append(space());
    int size = random.nextInt(5);
    for (int i = 0; i < size; i++) {
      if (i > 0) {
        text.append(',');
      }
      if (open == '{') {
        text.append(space()).append(name()).append(space()).append(':');
      }
      append(text, depth + 1);
    }
    text.append(close);
  }

  private String characters() {
    StringBuilder text = new StringBuilder();
    int size = random.nextInt(6);
    for (int i = 0; i < size; i++) {
      text.append(PARTS[random.nextInt(PARTS.length)]);
    }
    return text.toString();
  }
}
