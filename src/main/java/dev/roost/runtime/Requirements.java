package dev.roost.runtime;

import java.util.List;

/**
 * The packages of a Build. Only parsed requirements have this type, so that nothing after the
 * request has to split or join texts.
 *
 * @param lines one package each, normalised and sorted
 */
public record Requirements(List<String> lines) {
  public static final Requirements NONE = new Requirements(List.of());

  public Requirements {
    lines = List.copyOf(lines);
  }

  /** Requirements that were stored as their {@link #text}. */
  public static Requirements of(String text) {
    return new Requirements(text.lines().toList());
  }

  /** The form that is stored, and that a build reads: one package per line. */
  public String text() {
    return String.join("\n", lines);
  }
}
