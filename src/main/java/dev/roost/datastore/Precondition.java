package dev.roost.datastore;

import dev.roost.api.EntityTags;
import dev.roost.api.Problem;
import java.util.List;
import java.util.Optional;

/** The condition of a write on an entry. An expired entry counts as absent. */
public sealed interface Precondition {
  Precondition NONE = new None();
  Precondition ABSENT = new Absent();
  Precondition PRESENT = new Present();

  record None() implements Precondition {}

  /** The entry must not exist. */
  record Absent() implements Precondition {}

  /** The entry must exist. */
  record Present() implements Precondition {}

  /** The entry must have one of these versions. */
  record Versions(List<Long> versions) implements Precondition {}

  /**
   * Parses the headers of a write.
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
            "If-None-Match", "not_a_choice", "If-None-Match must be * in a write.");
      }
      return ABSENT;
    }
    if (ifMatch == null) {
      return NONE;
    }
    return ifMatch.strip().equals("*") ? PRESENT : new Versions(versions("If-Match", ifMatch));
  }

  /**
   * Whether a reader already has the version.
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

  /** The versions in a list of entity tags; unknown tags match nothing. */
  private static List<Long> versions(String header, String tags) {
    return EntityTags.parse(header, tags).stream().flatMap(tag -> number(tag).stream()).toList();
  }

  private static Optional<Long> number(String text) {
    try {
      return Optional.of(Long.parseLong(text));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }
}
