package dev.roost.bundle;

import dev.roost.api.Text;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** The rules for the paths of a bundle's files. Pure. */
final class BundlePaths {
  static final int MOST_BYTES = 1_024;
  static final int MOST_SEGMENT_BYTES = 255;
  static final int MOST_SEGMENTS = 32;

  private static final char BEFORE_ALL_OTHERS = '\0';

  private BundlePaths() {}

  /** Two paths that can't be in one directory: the first would be a directory of the second. */
  record Conflict(String file, String below) {}

  /** Why a file can't have the path; empty if it can. In linear time. */
  static Optional<String> mistake(String path) {
    if (path.isEmpty()) {
      return Optional.of("A path must not be empty.");
    }
    if (Text.sizeBytes(path) > MOST_BYTES) {
      return Optional.of("A path can have %,d bytes.".formatted(MOST_BYTES));
    }
    if (path.charAt(0) == '/') {
      return Optional.of("A path must be relative.");
    }
    if (path.indexOf('\\') >= 0 || path.chars().anyMatch(Character::isISOControl)) {
      return Optional.of("A path must not contain a backslash or a control character.");
    }
    if (Text.unstorable(path).isPresent()) {
      return Optional.of("A path must not contain half of a surrogate pair.");
    }
    String[] segments = path.split("/", -1);
    if (segments.length > MOST_SEGMENTS) {
      return Optional.of("A path can have %d segments.".formatted(MOST_SEGMENTS));
    }
    for (String segment : segments) {
      if (segment.isEmpty() || segment.equals(".") || segment.equals("..")) {
        return Optional.of("A path must not have an empty segment, \".\" or \"..\".");
      }
      if (Text.sizeBytes(segment) > MOST_SEGMENT_BYTES) {
        return Optional.of("A segment of a path can have %d bytes.".formatted(MOST_SEGMENT_BYTES));
      }
    }
    return Optional.empty();
  }

  /**
   * Files that are directories of others. Sorted with the slash before all other characters, a file
   * and what is below it are neighbours.
   *
   * @param paths different ones without mistakes
   */
  static List<Conflict> conflicts(Collection<String> paths) {
    List<String> sorted =
        paths.stream().map(path -> path.replace('/', BEFORE_ALL_OTHERS)).sorted().toList();
    List<Conflict> conflicts = new ArrayList<>();
    for (int i = 1; i < sorted.size(); i++) {
      String file = sorted.get(i - 1);
      String next = sorted.get(i);
      if (next.startsWith(file) && next.charAt(file.length()) == BEFORE_ALL_OTHERS) {
        conflicts.add(
            new Conflict(
                file.replace(BEFORE_ALL_OTHERS, '/'), next.replace(BEFORE_ALL_OTHERS, '/')));
      }
    }
    return conflicts;
  }

  /** The order of the paths' bytes in UTF-8, which is the order of their code points. */
  static int compare(String a, String b) {
    int length = Math.min(a.length(), b.length());
    for (int i = 0; i < length; i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        boolean isBeyond = Character.isSurrogate(x);
        return isBeyond == Character.isSurrogate(y) ? x - y : isBeyond ? 1 : -1;
      }
    }
    return a.length() - b.length();
  }
}
