package dev.roost.datastore;

import dev.roost.api.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What must be true of an entry for a write to happen. An expired entry is absent. */
public sealed interface Precondition {
  Precondition NONE = new None();
  Precondition ABSENT = new Absent();
  Precondition PRESENT = new Present();

  /** Nothing. */
  record None() implements Precondition {}

  /** There is no such entry. */
  record Absent() implements Precondition {}

  /** There is such an entry. */
  record Present() implements Precondition {}

  /** The entry has one of these versions. */
  record Versions(List<Long> versions) implements Precondition {}

  /** An entity tag of RFC 9110, 8.8.3, and what separates it from the next. */
  Pattern ENTITY_TAG = Pattern.compile("\\s*(W/)?\"([\\x21\\x23-\\x7e\\x80-\\xff]*)\"\\s*(?:,|$)");

  /**
   * From the headers of a write.
   *
   * @param ifMatch or null
   * @param ifNoneMatch or null
   * @throws Problem validation_failed
   */
  static Precondition of(String ifMatch, String ifNoneMatch) {
    if (ifMatch != null && ifNoneMatch != null) {
      throw Problem.invalid(
          "If-None-Match", "contradictory", "Send If-Match or If-None-Match, not both.");
    }
    if (ifNoneMatch != null) {
      if (!ifNoneMatch.strip().equals("*")) {
        throw Problem.invalid(
            "If-None-Match", "not_a_choice", "If-None-Match must be * when something is written.");
      }
      return ABSENT;
    }
    if (ifMatch == null) {
      return NONE;
    }
    return ifMatch.strip().equals("*") ? PRESENT : new Versions(versions("If-Match", ifMatch));
  }

  /**
   * Whether a reader has that version already.
   *
   * @param ifNoneMatch the header, or null
   */
  static boolean isKnown(String ifNoneMatch, long version) {
    return ifNoneMatch != null
        && (ifNoneMatch.strip().equals("*")
            || versions("If-None-Match", ifNoneMatch).contains(version));
  }

  static String entityTag(long version) {
    return "\"" + version + '"';
  }

  /** The versions of a list of entity tags; tags that Roost never gave match nothing. */
  private static List<Long> versions(String header, String tags) {
    List<Long> versions = new ArrayList<>();
    Matcher matcher = ENTITY_TAG.matcher(tags);
    int end = 0;
    while (end < tags.length()) {
      if (!matcher.find(end) || matcher.start() != end) {
        throw Problem.invalid(
            header, "wrong_type", header + " must be an ETag with its quotation marks, or *.");
      }
      end = matcher.end();
      number(matcher.group(2)).ifPresent(versions::add);
    }
    return versions;
  }

  private static Optional<Long> number(String text) {
    try {
      return Optional.of(Long.parseLong(text));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }
}
