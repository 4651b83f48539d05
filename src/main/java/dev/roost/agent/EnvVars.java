package dev.roost.agent;

import dev.roost.api.Problem.FieldError;
import dev.roost.api.Text;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * An agent's environment variables, one {@code KEY=VALUE} per line; the value is everything after
 * the first {@code =}. Blank lines and lines that start with {@code #} are kept and ignored.
 *
 * @param errors all mistakes, with line numbers; no message shows a value
 */
public record EnvVars(Map<String, String> values, List<FieldError> errors) {
  private static final Pattern KEY = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*+");
  private static final String RESERVED = "ROOST_";

  /**
   * Variables of the SDK, allowed so that a script can call Roost with an API key from the agent's
   * owner.
   */
  private static final Set<String> OF_THE_SDK = Set.of("ROOST_API_KEY", "ROOST_URL");

  private static final String MASK = "********";

  public static EnvVars parse(String text) {
    Map<String, String> values = new LinkedHashMap<>();
    List<FieldError> errors = new ArrayList<>();
    int number = 0;
    for (String line : text.split("\r?\n", -1)) {
      number++;
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      int equals = line.indexOf('=');
      String key = equals < 0 ? "" : line.substring(0, equals);
      String mistake = null;
      String code = "invalid_line";
      if (equals < 0) {
        mistake = "The line has no \"=\". Write KEY=VALUE.";
      } else if (!KEY.matcher(key).matches()) {
        mistake =
            Text.quote(key)
                + " is not a valid variable name: use letters, digits and _ only, do not begin with a "
                + "digit, and write no spaces around \"=\".";
      } else if (key.startsWith(RESERVED) && !OF_THE_SDK.contains(key)) {
        code = "reserved";
        mistake =
            key
                + ": names that begin with ROOST_ are reserved, except ROOST_API_KEY and ROOST_URL.";
      } else if (values.putIfAbsent(key, line.substring(equals + 1)) != null) {
        code = "duplicate";
        mistake = key + " is set twice. Remove one of the lines.";
      }
      if (mistake != null) {
        errors.add(new FieldError("/env_vars", number, code, mistake));
      }
    }
    return new EnvVars(values, errors);
  }

  /**
   * The text with all values masked, for callers without access to values. Masks also the text
   * after an equals sign in a comment, which may be a disabled variable.
   */
  public static String masked(String text) {
    return Arrays.stream(text.split("\n", -1))
        .map(EnvVars::maskedLine)
        .collect(Collectors.joining("\n"));
  }

  private static String maskedLine(String line) {
    int equals = line.indexOf('=');
    String end = line.endsWith("\r") ? "\r" : "";
    return equals < 0 ? line : line.substring(0, equals + 1) + MASK + end;
  }
}
