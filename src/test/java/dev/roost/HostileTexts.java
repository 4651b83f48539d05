package dev.roost;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.roost.api.Problem;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Texts that make a parser work for long, and texts that are nearly right: each has an answer, and
 * has it soon.
 */
public final class HostileTexts {
  /** A hundred times what they take, and a thousandth of what a quadratic parser would. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static final int LENGTH = 64 << 10;
  private static final int MIXED = 2_000;
  private static final int MOST_PIECES = 8;

  /** Parts that are repeated, with an end that makes the whole fail as late as can be. */
  private static final List<String> PARTS =
      List.of(
          " ",
          "\t ",
          "\n",
          "\r\n",
          "\u2028",
          "\u0085",
          "\0",
          "a",
          "a ",
          "a,",
          "a==1,",
          "a;",
          "==",
          "-r ",
          "(",
          "[",
          "{\"a\":",
          "[\"",
          "\\",
          "\\u",
          "'",
          "\"",
          "'\"",
          "\"a\",",
          "W/\"",
          "*",
          "*/",
          ".*",
          "1-",
          "1,",
          "9",
          "0.",
          "1e9",
          "-",
          "@",
          "#",
          "=",
          "A=",
          "A=\"",
          "a and ",
          "a=='b' or ",
          "a[b",
          "a[b,",
          "~=",
          ":",
          "::",
          "a:",
          ".",
          "a.",
          "..",
          "../",
          "/",
          "%",
          "%2F",
          "?",
          "_",
          "é",
          "\ud83d\udc14");

  private static final List<String> ENDS = List.of("", "\u2028", "x", "'", "}", ")");

  private HostileTexts() {}

  /** Reads a text, or refuses it by an exception. */
  @FunctionalInterface
  public interface Parser {
    void parse(String text) throws Exception;
  }

  /**
   * Fails where a parser takes long or is surprised.
   *
   * @param valid what it takes: pieces of these are mixed with others
   */
  public static void check(Parser parser, String... valid) {
    for (String part : PARTS) {
      for (String end : ENDS) {
        String text = part.repeat(LENGTH / part.length()) + end;
        assertTimeoutPreemptively(
            LIMIT, () -> parse(parser, text), () -> part.codePoints().boxed().toList().toString());
      }
    }
    long seed = System.nanoTime();
    assertTimeoutPreemptively(
        LIMIT,
        () -> mixed(seed, valid).limit(MIXED).forEach(text -> parse(parser, text)),
        () -> "the mixed ones of seed " + seed);
  }

  /** Texts without end from pieces of those given and of others. */
  public static Stream<String> mixed(long seed, String... valid) {
    Random random = new Random(seed);
    return Stream.generate(() -> mix(random, valid));
  }

  private static String mix(Random random, String[] valid) {
    StringBuilder text = new StringBuilder();
    for (int pieces = 1 + random.nextInt(MOST_PIECES); pieces > 0; pieces--) {
      if (random.nextInt(3) == 0) {
        text.append(PARTS.get(random.nextInt(PARTS.size())));
      } else {
        int[] whole = valid[random.nextInt(valid.length)].codePoints().toArray();
        int from = random.nextInt(whole.length);
        text.append(new String(whole, from, 1 + random.nextInt(whole.length - from)));
      }
    }
    return text.toString();
  }

  /** What a parser doesn't mean to throw, such as a NumberFormatException, is no answer. */
  private static void parse(Parser parser, String text) {
    try {
      parser.parse(text);
    } catch (Problem refused) {
      return;
    } catch (Exception e) {
      if (e.getClass() != IllegalArgumentException.class
          && !e.getClass().getPackageName().startsWith("dev.roost")) {
        throw new AssertionError(
            "the answer to " + text.substring(0, Math.min(200, text.length())), e);
      }
    }
  }
}
