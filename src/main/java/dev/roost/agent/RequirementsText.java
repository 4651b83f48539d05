package dev.roost.agent;

import dev.roost.api.Problem.FieldError;
import dev.roost.api.Text;
import dev.roost.runtime.Requirements;
import dev.roost.runtime.SdkWheel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An agent's requirements: {@code name==version} per line, with extras and markers (the syntax of
 * PEP 508, versions of PEP 440), comments and blank lines. Roost's own SDK needs no version, since
 * only one version exists.
 *
 * @param text as the user wrote it
 * @param requirements sorted, without comments, names normalised as in PEP 503; equal for texts
 *     with the same meaning
 * @param errors all mistakes, with line numbers. A requirement for another version of the SDK is an
 *     error and is also in {@code requirements}: an agent saved before an upgrade may contain one,
 *     and its build then reports the error
 */
public record RequirementsText(String text, Requirements requirements, List<FieldError> errors) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9]++(?:[._-]++[A-Za-z0-9]++)*+");

  /** All quantifiers in this class are possessive, so that text without a match fails at once. */
  private static final Pattern PARTS =
      Pattern.compile(
          "(?<name>[A-Za-z0-9._-]++)\\s*+(?:\\[(?<extras>[^\\]]*+)])?+\\s*+"
              + "(?<rest>(?<operator>===|==|~=|!=|<=|>=|<|>|@)?+.*+)",
          Pattern.DOTALL);

  /**
   * PEP 440, appendix B, without the leading {@code v} and the tolerated alternative spellings. A
   * possessive group doesn't try its alternatives again, so the longer alternatives come first.
   */
  private static final Pattern VERSION =
      Pattern.compile(
          "(?i)(?:\\d++!)?+\\d++(?:\\.\\d++)*+"
              + "(?:[._-]?+(?:alpha|beta|preview|pre|rc|a|b|c)[._-]?+\\d*+)?+"
              + "(?:-\\d++|[._-]?+(?:post|rev|r)[._-]?+\\d*+)?+(?:[._-]?+dev[._-]?+\\d*+)?+"
              + "(?:\\+[a-z0-9]++(?:[._-][a-z0-9]++)*+)?+");

  /** Characters that some programs treat as the end of a line and that text files don't contain. */
  private static final Pattern SEPARATOR = Pattern.compile("[\\x00\\x0B\\f\\x85\\u2028\\u2029]");

  private static final String OWN_SDK = SdkWheel.own().version();

  private static final Pattern SPACE = Pattern.compile("\\s++");

  public static RequirementsText parse(String text) {
    return new Parser().parse(text);
  }

  private static final class Parser {
    private final List<FieldError> errors = new ArrayList<>();
    private final TreeSet<String> normalised = new TreeSet<>();

    /** The pinned version and its line, by name and marker. */
    private final Map<String, Map<String, Pin>> pins = new TreeMap<>();

    private record Pin(String version, int line) {
      boolean isSame(String other) {
        return version.isEmpty() || version.equals(other);
      }
    }

    RequirementsText parse(String text) {
      int number = 0;
      for (String raw : text.split("\r?\n|\r", -1)) {
        number++;
        String line = withoutComment(raw);
        Matcher separator = SEPARATOR.matcher(line);
        if (separator.find()) {
          reject(
              number,
              "invalid_requirement",
              "%s contains the character U+%04X. Write one package per line, name==version."
                  .formatted(Text.quote(line.strip()), (int) line.charAt(separator.start())));
        } else if (!line.isBlank()) {
          parse(line.strip(), number);
        }
      }
      return new RequirementsText(
          text, new Requirements(List.copyOf(normalised)), List.copyOf(errors));
    }

    private static String withoutComment(String line) {
      int hash = line.indexOf('#');
      while (hash > 0 && !Character.isWhitespace(line.charAt(hash - 1))) {
        hash = line.indexOf('#', hash + 1);
      }
      return hash < 0 ? line : line.substring(0, hash);
    }

    private void parse(String line, int number) {
      if (line.startsWith("-")) {
        reject(
            number,
            "option",
            Text.quote(line)
                + " is an option of pip. Write one package per line, name==version; the package index is a setting of Roost (roost.builds.index-url).");
        return;
      }
      if (line.contains("://") || line.startsWith("git+")) {
        reject(
            number,
            "url",
            Text.quote(line) + " is a URL. Write a package from the package index, name==version.");
        return;
      }
      if (line.startsWith(".")
          || line.startsWith("/")
          || line.startsWith("~")
          || line.endsWith(".whl")
          || line.endsWith(".tar.gz")) {
        reject(
            number,
            "path",
            Text.quote(line)
                + " is a path. Write a package from the package index, name==version.");
        return;
      }
      Matcher parts = PARTS.matcher(line);
      if (!parts.matches() || !NAME.matcher(parts.group("name")).matches()) {
        reject(
            number,
            "invalid_requirement",
            Text.quote(line) + " is not a requirement. Write name==version.");
        return;
      }
      String name = parts.group("name");
      String operator = parts.group("operator");
      boolean sdk = normalise(name).equals(SdkWheel.NAME);
      if (operator == null) {
        String rest = parts.group("rest").strip();
        boolean markerOnly = rest.isEmpty() || rest.startsWith(";");
        if (!sdk || !markerOnly) {
          reject(
              number,
              markerOnly ? "unpinned" : "invalid_requirement",
              markerOnly
                  ? Text.quote(line) + " has no version. Write " + name + "==<version>."
                  : Text.quote(line) + " is not a requirement. Write name==version.");
          return;
        }
        operator = "";
      }
      String[] versionAndMarker = parts.group("rest").substring(operator.length()).split(";", 2);
      String version = versionAndMarker[0].strip();
      String marker =
          versionAndMarker.length == 2
              ? SPACE.matcher(versionAndMarker[1].strip()).replaceAll(" ")
              : "";
      Optional<String> mistake =
          versionAndMarker.length == 2 ? Marker.mistake(marker) : Optional.empty();
      if (operator.equals("@")) {
        reject(
            number,
            "url",
            Text.quote(line) + " points to a URL or path. Write " + name + "==<version>.");
      } else if (!(operator.equals("==") || operator.isEmpty()) || version.contains(",")) {
        String bound = sdk ? OWN_SDK : VERSION.matcher(version).matches() ? version : "<version>";
        reject(
            number,
            "unpinned",
            Text.quote(line)
                + " allows several versions. Pin one, for example "
                + name
                + "=="
                + bound
                + ".");
      } else if (version.contains("*")) {
        reject(
            number,
            "unpinned",
            Text.quote(line) + " allows several versions. Write the full version, without \"*\".");
      } else if (!operator.isEmpty() && !VERSION.matcher(version).matches()) {
        reject(
            number,
            "invalid_version",
            Text.quote(version) + " is not a version (PEP 440). Write " + name + "==1.2.3, say.");
      } else if (mistake.isPresent()) {
        reject(
            number,
            "invalid_marker",
            Text.quote(marker)
                + " is not an environment marker (PEP 508): "
                + mistake.get()
                + ". Write a marker such as python_version < \"3.12\", or remove the \";\".");
      } else {
        if (sdk && !version.isEmpty() && !version.equals(OWN_SDK)) {
          reject(
              number,
              "other_version",
              "%s: this Roost installs only version %s of its SDK. Write roost or roost==%s."
                  .formatted(Text.quote(line), OWN_SDK, OWN_SDK));
        }
        List<String> extras = extras(parts.group("extras"), number);
        accept(name, extras, version.toLowerCase(Locale.ROOT), marker, number);
      }
    }

    private List<String> extras(String text, int number) {
      TreeSet<String> extras = new TreeSet<>();
      if (text != null && !text.isBlank()) {
        for (String extra : text.split(",", -1)) {
          if (NAME.matcher(extra.strip()).matches()) {
            extras.add(normalise(extra.strip()));
          } else {
            reject(
                number,
                "invalid_extra",
                Text.quote(extra.strip()) + " is not a valid name of an extra.");
          }
        }
      }
      return List.copyOf(extras);
    }

    private void accept(
        String name, List<String> extras, String version, String marker, int number) {
      String normal = normalise(name);
      Map<String, Pin> byMarker = pins.computeIfAbsent(normal, key -> new TreeMap<>());
      for (Map.Entry<String, Pin> other : byMarker.entrySet()) {
        boolean apart =
            !other.getKey().isEmpty() && !marker.isEmpty() && !other.getKey().equals(marker);
        if (!apart && !version.isEmpty() && !other.getValue().isSame(version)) {
          reject(
              number,
              "conflict",
              "%s has version %s here and %s in line %d. Remove one of the lines."
                  .formatted(normal, version, other.getValue().version(), other.getValue().line()));
          return;
        }
      }
      byMarker.putIfAbsent(marker, new Pin(version, number));
      String bracketed = extras.isEmpty() ? "" : "[" + String.join(",", extras) + "]";
      String pinned = version.isEmpty() ? "" : "==" + version;
      normalised.add(normal + bracketed + pinned + (marker.isEmpty() ? "" : " ; " + marker));
    }

    private void reject(int line, String code, String detail) {
      errors.add(new FieldError("/requirements", line, code, detail));
    }
  }

  /** PEP 503. */
  static String normalise(String name) {
    return name.replaceAll("[-_.]++", "-").toLowerCase(Locale.ROOT);
  }
}
