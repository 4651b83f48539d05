package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.agent.PreloadedView.LeftOut;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PreloadReportTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static final String REPORT =
      """
      {"revision": 3, "import_seconds": 0.231, "modules": ["pandas", "pandas._libs"],
       "packages": ["pandas"], "left_out": [{"module": "grpc", "reason": "starts a thread"}],
       "memory_bytes": 48123904}""";

  private static PreloadReport parse(String json) {
    return PreloadReport.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  /** The report with another value of that field, as JSON. */
  private static String with(String field, String value) {
    try {
      ObjectNode report = (ObjectNode) MAPPER.readTree(REPORT);
      report.set(field, MAPPER.readTree(value));
      return MAPPER.writeValueAsString(report);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Problem refused(String json) {
    return assertThrows(Problem.class, () -> parse(json), json);
  }

  @Test
  void aReportIsRead() {
    assertEquals(
        new PreloadReport(
            3,
            0.231,
            List.of("pandas", "pandas._libs"),
            List.of("pandas"),
            List.of(new LeftOut("grpc", "starts a thread")),
            48_123_904),
        parse(REPORT));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "revision       | 0                                   | /revision",
        "revision       | \"3\"                             | /revision",
        "import_seconds | -0.1                                | /import_seconds",
        "import_seconds | 1e300                               | /import_seconds",
        "import_seconds | null                                | /import_seconds",
        "memory_bytes   | -1                                  | /memory_bytes",
        "memory_bytes   | 1e30                                | /memory_bytes",
        "packages       | {}                                  | /packages",
        "packages       | [\"a b\"]                         | /packages/0",
        "modules        | {}                                  | /modules",
        "modules        | [1]                                 | /modules",
        "modules        | [\"a\\u0000\"]                  | /modules/0",
        "modules        | [\"a\", \"\"]                   | /modules/1",
        "modules        | [\"a b\"]                         | /modules/0",
        "modules        | [\"a..b\"]                        | /modules/0",
        "modules        | [\".a\"]                          | /modules/0",
        "modules        | [\"a.\"]                          | /modules/0",
        "modules        | [\"../a\"]                        | /modules/0",
        "left_out       | [\"a\"]                           | /left_out/0",
        "left_out       | [{\"module\": \"a\"}]           | /left_out/0/reason",
        "left_out       | [{\"reason\": \"a\"}]           | /left_out/0/module",
        "left_out       | [{\"module\": \"\", \"reason\": \"\"}]  | /left_out/0/module",
        "left_out       | [{\"module\": \"a\", \"reason\": 1}]      | /left_out/0/reason",
        "other          | 1                                   | /other",
      })
  void aWrongFieldIsNamed(String field, String value, String pointer) {
    Problem problem = refused(with(field, value));
    assertEquals(ErrorCode.VALIDATION_FAILED, problem.code());
    assertEquals(pointer, problem.errors().get(0).pointer());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"revision", "import_seconds", "modules", "packages", "left_out", "memory_bytes"})
  void everyFieldIsRequired(String field) throws IOException {
    ObjectNode report = (ObjectNode) MAPPER.readTree(REPORT);
    report.remove(field);
    Problem problem = refused(report.toString());
    assertEquals("/" + field, problem.errors().get(0).pointer());
    assertEquals("required", problem.errors().get(0).code());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"_a", "a1", "a.b_c._d", "grüße.été", "81d243bd2c585b0f4821__mypyc", "__main__"})
  void namesOfPythonAreTaken(String name) {
    assertEquals(List.of(name), parse(with("modules", "[\"" + name + "\"]")).modules());
  }

  @Test
  void aModuleCountsOnce() {
    assertEquals(List.of("b", "a"), parse(with("modules", "[\"b\", \"a\", \"b\"]")).modules());
  }

  @Test
  void listsAndNamesHaveALength() {
    String longest = "m".repeat(PreloadReport.MOST_NAME_CHARACTERS);
    assertEquals(List.of(longest), parse(with("modules", json(longest))).modules());
    assertEquals("too_long", code(refused(with("modules", json(longest + "m")))));
    assertEquals(
        PreloadReport.MOST_MODULES,
        parse(with("modules", modules(PreloadReport.MOST_MODULES))).modules().size());
    Problem tooMany = refused(with("modules", modules(PreloadReport.MOST_MODULES + 1)));
    assertEquals("modules must have at most 5,000 elements.", tooMany.getMessage());
    assertEquals(
        PreloadReport.MOST_LEFT_OUT,
        parse(with("left_out", leftOut(PreloadReport.MOST_LEFT_OUT))).leftOut().size());
    assertEquals(
        "too_many", code(refused(with("left_out", leftOut(PreloadReport.MOST_LEFT_OUT + 1)))));
  }

  private static String code(Problem problem) {
    return problem.errors().get(0).code();
  }

  private static String json(String name) {
    return "[\"" + name + "\"]";
  }

  private static String modules(int count) {
    return IntStream.range(0, count).mapToObj(i -> "\"m" + i + "\"").toList().toString();
  }

  private static String leftOut(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "{\"module\": \"m%d\", \"reason\": \"\"}".formatted(i))
        .toList()
        .toString();
  }

  @Test
  void aReasonIsCutAndCanBeStored() {
    String reason = "\\u0000\\ud800" + "r".repeat(297) + "🐔 and more";
    LeftOut found = parse(REPORT.replace("starts a thread", reason)).leftOut().get(0);
    assertEquals("\ufffd\ufffd" + "r".repeat(297), found.reason());
    assertTrue(found.reason().length() <= PreloadReport.MOST_REASON_CHARACTERS);
  }
}
