package dev.roost.agent;

import dev.roost.api.Body;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** How an agent is offered to language models as a tool: reads and validates the fields. */
final class AgentTool {
  /** Several APIs of models refuse the names of tools that are longer or have other characters. */
  static final int MOST_NAME_CHARACTERS = 64;

  static final String NAME_PATTERN = "^[A-Za-z0-9_-]+$";

  static final int MOST_DESCRIPTION_CHARACTERS = 4_096;

  /** The beginning of the names of Roost's own tools. */
  static final String RESERVED_PREFIX = "roost_";

  private static final Pattern NAME =
      Pattern.compile("[A-Za-z0-9_-]{1,%d}".formatted(MOST_NAME_CHARACTERS));

  private AgentTool() {}

  /**
   * @return an empty inner value: the agent is not a tool
   */
  static Optional<Optional<String>> readName(Body body) {
    if (body.isNull("tool_name")) {
      return Optional.of(Optional.empty());
    }
    Optional<String> name = body.string("tool_name");
    if (name.isPresent() && !NAME.matcher(name.get()).matches()) {
      body.reject(
          "tool_name",
          "invalid_name",
          "The name of a tool has 1 to %d letters from A to Z in either case, digits, _ and -."
              .formatted(MOST_NAME_CHARACTERS));
      return Optional.empty();
    }
    if (name.isPresent() && name.get().startsWith(RESERVED_PREFIX)) {
      body.reject(
          "tool_name",
          "reserved_name",
          "Names that begin with " + RESERVED_PREFIX + " are reserved for the tools of Roost.");
      return Optional.empty();
    }
    return name.map(Optional::of);
  }

  /**
   * @return an empty inner value: none
   */
  static Optional<Optional<String>> readDescription(Body body) {
    if (body.isNull("tool_description")) {
      return Optional.of(Optional.empty());
    }
    Optional<String> text = body.string("tool_description");
    int characters = text.map(given -> given.codePointCount(0, given.length())).orElse(0);
    if (characters > MOST_DESCRIPTION_CHARACTERS) {
      body.reject(
          "tool_description",
          "too_long",
          "tool_description has %,d characters; it can have at most %,d."
              .formatted(characters, MOST_DESCRIPTION_CHARACTERS));
      return Optional.empty();
    }
    return text.map(Optional::of);
  }

  static Problem nameTaken(String name) {
    return Problem.conflict(
        List.of(
            new Problem.FieldError(
                "/tool_name",
                "name_taken",
                "An agent already has the tool name " + Text.quote(name) + ".")));
  }
}
