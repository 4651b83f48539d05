package dev.roost.agent;

import dev.roost.agent.PreloadedView.LeftOut;
import dev.roost.api.Body;
import dev.roost.api.Problem;
import dev.roost.api.Text;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What an executor has found of the imports of its revision, as {@code docs/executor-link.md}
 * specifies. Executors run users' code, so everything in a report is checked.
 *
 * @param importSeconds what importing the modules took
 * @param modules full names, in the order of their import, without duplicates
 * @param packages top-level names of those modules that belong to installed packages, sorted
 * @param memoryBytes the pages that the process with these modules shares with nobody
 */
public record PreloadReport(
    int revision,
    double importSeconds,
    List<String> modules,
    List<String> packages,
    List<LeftOut> leftOut,
    long memoryBytes) {
  static final int MOST_MODULES = 5_000;
  static final int MOST_PACKAGES = 500;
  static final int MOST_LEFT_OUT = 1_000;
  static final int MOST_NAME_CHARACTERS = 200;
  static final int MOST_REASON_CHARACTERS = 300;

  private static final int DAY_SECONDS = 86_400;

  /**
   * Identifiers of Python with dots between them. A part may begin with a digit, as the shared
   * modules of packages that mypyc compiles do: {@code 81d243bd2c585b0f4821__mypyc}.
   */
  private static final Pattern NAME =
      Pattern.compile(
          "[\\p{L}\\p{N}_][\\p{L}\\p{N}\\p{M}\\p{Pc}]*(\\.[\\p{L}\\p{N}_][\\p{L}\\p{N}\\p{M}\\p{Pc}]*)*");

  /**
   * Reads and validates the body of a report.
   *
   * @throws Problem malformed_json, validation_failed
   */
  public static PreloadReport parse(byte[] utf8) {
    Body body = Body.parse(utf8);
    for (String name :
        List.of("revision", "import_seconds", "modules", "packages", "left_out", "memory_bytes")) {
      body.require(name);
    }
    PreloadReport report =
        new PreloadReport(
            body.integer("revision", 1, Integer.MAX_VALUE).orElse(0),
            body.number("import_seconds", 0, DAY_SECONDS).orElse(0.0),
            names(body, "modules", MOST_MODULES),
            names(body, "packages", MOST_PACKAGES),
            leftOut(body),
            body.wholeNumber("memory_bytes").orElse(0L));
    body.check();
    return report;
  }

  private static List<String> names(Body body, String field, int most) {
    List<String> names = body.strings(field).orElse(List.of());
    checkCount(body, field, names.size(), most);
    for (int i = 0; i < names.size(); i++) {
      checkName(body, field + "/" + i, names.get(i));
    }
    return names.stream().distinct().toList();
  }

  private static List<LeftOut> leftOut(Body body) {
    List<LeftOut> leftOut = body.objects("left_out", PreloadReport::leftOutOf).orElse(List.of());
    checkCount(body, "left_out", leftOut.size(), MOST_LEFT_OUT);
    return leftOut;
  }

  private static LeftOut leftOutOf(Body body) {
    body.require("module");
    body.require("reason");
    Optional<String> module = body.string("module");
    module.ifPresent(name -> checkName(body, "module", name));
    String reason = Text.storable(body.anyString("reason").orElse(""));
    return new LeftOut(module.orElse(""), Text.beginning(reason, MOST_REASON_CHARACTERS));
  }

  private static void checkCount(Body body, String name, int count, int most) {
    if (count > most) {
      body.reject(name, "too_many", "%s must have at most %,d elements.".formatted(name, most));
    }
  }

  private static void checkName(Body body, String pointer, String name) {
    if (name.length() > MOST_NAME_CHARACTERS) {
      body.reject(
          pointer,
          "too_long",
          "A module's name must have at most %d characters.".formatted(MOST_NAME_CHARACTERS));
    } else if (!NAME.matcher(name).matches()) {
      body.reject(
          pointer, "invalid_name", Text.quote(name) + " is not the name of a Python module.");
    }
  }
}
