package dev.roost.api;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The entity tags of a conditional request (RFC 9110, 8.8.3 and 13.1). */
public final class EntityTags {
  /** A tag and the separator to the next tag. */
  private static final Pattern TAG =
      Pattern.compile("\\s*+(W/)?+\"([\\x21\\x23-\\x7e\\x80-\\xff]*+)\"\\s*+(?:,|$)");

  private EntityTags() {}

  /**
   * The text between the quotation marks. Weak tags count, because a proxy that compresses turns
   * strong tags into weak tags.
   *
   * @param header the header's name
   * @throws Problem validation_failed
   */
  public static List<String> parse(String header, String text) {
    List<String> tags = new ArrayList<>();
    Matcher matcher = TAG.matcher(text);
    int end = 0;
    while (end < text.length()) {
      if (!matcher.region(end, text.length()).lookingAt()) {
        throw Problem.invalid(
            header, "wrong_type", header + " must be an ETag with quotation marks, or *.");
      }
      end = matcher.end();
      tags.add(matcher.group(2));
    }
    return tags;
  }

  /**
   * @param ifMatch the header, or null: no condition
   * @param tag the tag of the current state, without quotation marks
   * @throws Problem precondition_failed, validation_failed
   */
  public static void requireMatch(String ifMatch, String tag) {
    if (ifMatch != null
        && !ifMatch.strip().equals("*")
        && !parse("If-Match", ifMatch).contains(tag)) {
      throw Problem.of(
          ErrorCode.PRECONDITION_FAILED,
          "The resource has changed; its ETag is now \"" + tag + "\". Retrieve it again.");
    }
  }
}
