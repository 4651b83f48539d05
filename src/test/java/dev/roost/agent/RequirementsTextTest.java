package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.api.Problem.FieldError;
import dev.roost.runtime.Requirements;
import dev.roost.runtime.SdkWheel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequirementsTextTest {
  private static final String OWN = SdkWheel.own().version();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "requests==2.32.3                  | requests==2.32.3",
        "  requests  ==  2.32.3            | requests==2.32.3",
        "requests==2.32.3   # why          | requests==2.32.3",
        "Zope.Interface==7.2               | zope-interface==7.2",
        "typing__-.extensions==4.12.2      | typing-extensions==4.12.2",
        "a==1                              | a==1",
        "2to3==1.0                         | 2to3==1.0",
        "uvicorn[standard]==0.32.0         | uvicorn[standard]==0.32.0",
        "uvicorn [ Standard ] == 0.32.0    | uvicorn[standard]==0.32.0",
        "a[z,B_b,z]==1                     | a[b-b,z]==1",
        "a[]==1                            | a==1",
        "a==1!2.0                          | a==1!2.0",
        "a==1.0RC1                         | a==1.0rc1",
        "a==1.0.post1.dev2                 | a==1.0.post1.dev2",
        "a==1.0-1                          | a==1.0-1",
        "torch==2.5.1+CU124                | torch==2.5.1+cu124",
        "a==2024.11.21                     | a==2024.11.21",
        "a==1 ; python_version < '3.12'    | a==1 ; python_version < '3.12'",
        "a==1;sys_platform=='linux'        | a==1 ; sys_platform=='linux'",
        "a==1 ; os_name in 'nt posix' and (python_version>='3.9' or extra not  in \"x\") | a==1 ; os_name in 'nt posix' and (python_version>='3.9' or extra not in \"x\")"
      })
  void aPinnedRequirementIsNormalised(String line, String normalised) {
    assertParsed(List.of(normalised), line);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "roost                            | roost",
        "Roost [CLI]                      | roost[cli]",
        "roost ; python_version > '3.9'   | roost ; python_version > '3.9'",
        "roost==VERSION                   | roost==VERSION",
        "roost[cli]==VERSION ; os_name=='posix' | roost[cli]==VERSION ; os_name=='posix'",
      })
  void theSdkOfThisRoostNeedsNoVersion(String line, String normalised) {
    assertParsed(List.of(normalised.replace("VERSION", OWN)), line.replace("VERSION", OWN));
  }

  /** One that was saved before an upgrade must not be left out of what is built. */
  @Test
  void anotherVersionOfTheSdkIsRefusedAndKept() {
    RequirementsText parsed = RequirementsText.parse("a==1\nroost[cli]==9.9");
    FieldError error = parsed.errors().get(0);
    assertEquals("2 other_version", error.line() + " " + error.code());
    assertTrue(error.detail().endsWith("Write roost or roost==" + OWN + "."), error.detail());
    assertEquals(List.of("a==1", "roost[cli]==9.9"), parsed.requirements().lines());
  }

  @Test
  void severalVersionsOfTheSdkAreRefusedWithTheOneThereIs() {
    for (String line : List.of("roost>=0.0.1", "roost~=1.0", "roost<3")) {
      FieldError error = RequirementsText.parse(line).errors().get(0);
      assertEquals("unpinned", error.code());
      assertTrue(error.detail().contains("for example roost==" + OWN + "."), error.detail());
    }
  }

  @Test
  void theSdkWithAndWithoutItsVersionIsNoConflict() {
    assertEquals(
        List.of(), RequirementsText.parse("roost\nroost==" + OWN + "\nroost[cli]").errors());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "\n\n", "\r\n", "\r", " \t ", "# nothing", "  # nothing", "#a==1\n# b==2"})
  void blankLinesAndCommentsMeanNothing(String text) {
    assertParsed(List.of(), text);
  }

  @Test
  void theEndOfACommentIsTheEndOfTheLineAndNoOtherSeparator() {
    assertParsed(List.of("a==1"), "# one\u2028b==2\na==1 # two\u0085c==3");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-r other.txt                    | option              | is an option of pip",
        "--index-url=https://x/simple    | option              | roost.builds.index-url",
        "-e .                            | option              | Write one package per line, name==version",
        "https://x/a-1-py3-none-any.whl  | url                 | is a URL. Write a package from the package index, name==version",
        "git+ssh://git@x/a.git           | url                 | is a URL",
        "git+git@x:a.git                 | url                 | is a URL",
        "a @ https://x/a.zip             | url                 | is a URL",
        "a @ ../a.zip                    | url                 | Write a==<version>.",
        "./a                             | path                | is a path",
        "../a                            | path                | is a path",
        "/srv/a                          | path                | is a path",
        "~/a                             | path                | is a path",
        "a-1-py3-none-any.whl            | path                | is a path",
        "a-1.tar.gz                      | path                | is a path",
        "requests                        | unpinned            | has no version. Write requests==<version>.",
        "requests[socks]                 | unpinned            | has no version. Write requests==<version>.",
        "requests ; python_version > '3' | unpinned            | Write requests==<version>.",
        "requests>=2.32                  | unpinned            | allows several versions. Pin one, for example requests==2.32.",
        "requests > 2.32                 | unpinned            | for example requests==2.32.",
        "requests<3                      | unpinned            | for example requests==3.",
        "requests<=3                     | unpinned            | for example requests==3.",
        "requests~=2.32                  | unpinned            | for example requests==2.32.",
        "requests!=2.32                  | unpinned            | for example requests==2.32.",
        "requests===2.32                 | unpinned            | for example requests==2.32.",
        "requests>=2,<3                  | unpinned            | for example requests==<version>.",
        "requests==2.32,!=2.33           | unpinned            | for example requests==<version>.",
        "requests==2.*                   | unpinned            | Write the full version, without \"*\".",
        "requests==                      | invalid_version     | Write requests==1.2.3, say.",
        "requests==latest                | invalid_version     | \"latest\" is not a version (PEP 440)",
        "requests==1.0 --hash=sha256:00  | invalid_version     | is not a version (PEP 440)",
        "requests==2.32.3#comment        | invalid_version     | \"2.32.3#comment\" is not a version",
        "requests=2.32                   | invalid_requirement | is not a requirement. Write name==version.",
        "requests 2.32                   | invalid_requirement | Write name==version.",
        "requests(==2.32)                | invalid_requirement | Write name==version.",
        "-==1                            | option              | Write one package per line, name==version",
        "_a==1                           | invalid_requirement | Write name==version.",
        "a_==1                           | invalid_requirement | Write name==version.",
        "größe==1                        | invalid_requirement | Write name==version.",
        "a[b==1                          | invalid_requirement | Write name==version.",
        "a[b c]==1                       | invalid_extra       | \"b c\" is not a valid name of an extra",
        "a[,]==1                         | invalid_extra       | \"\" is not a valid name of an extra",
        "a==1 ;                          | invalid_marker      | or remove the \";\"",
        "a==1 ; on a sunny day           | invalid_marker      | Write a marker such as python_version < \"3.12\"",
        "a==1 ; python_version < \"3.12   | invalid_marker      | a string is not closed",
        "a==1 ; python_version < 3.12    | invalid_marker      | or a quoted string, is missing",
        "a==1 ; python_version           | invalid_marker      | a comparison is missing",
        "a==1 ; os_name not 'nt'         | invalid_marker      | \"in\" is missing after \"not\"",
        "a==1 ; (os_name == 'nt'         | invalid_marker      | a parenthesis is not closed",
        "a==1 ; os_name == 'nt')         | invalid_marker      | neither \"and\" nor \"or\"",
        "a==1 ; os_name == 'nt' and      | invalid_marker      | is missing",
        "a==1 ; 'a' == 'a'               | invalid_marker      | two strings are compared",
        "a==1 ; os_name == 'a\\b'         | invalid_marker      | printable ASCII only",
        "a==1 ; os_names == 'nt'         | invalid_marker      | a variable such as python_version"
      })
  void anythingElseIsRefusedWithItsLineAndWhatToWrite(String line, String code, String detail) {
    RequirementsText parsed = RequirementsText.parse("# first\n\nfine==1\n" + line + "\n");
    FieldError error = parsed.errors().get(0);
    assertEquals("/requirements", error.pointer());
    assertEquals(4, error.line());
    assertEquals(code, error.code(), error.detail());
    assertTrue(error.detail().contains(detail), error.detail());
  }

  /** Some programs would read two lines where others read one. */
  @ParameterizedTest
  @ValueSource(strings = {"\u2028", "\u2029", "\u0085", "\u000b", "\f", "\0"})
  void aCharacterThatMayEndALineIsRefusedOutsideComments(String separator) {
    for (String text : List.of("a==1" + separator + "b==2", "a==1" + separator, separator)) {
      FieldError error = RequirementsText.parse(text).errors().get(0);
      assertEquals("invalid_requirement", error.code());
      String name = "U+%04X".formatted((int) separator.charAt(0));
      assertTrue(error.detail().contains("contains the character " + name), error.detail());
    }
  }

  @Test
  void nestedParenthesesDontOverflowTheStack() {
    String marker = "(".repeat(30_000) + "os_name == 'nt'" + ")".repeat(30_000);
    FieldError error = RequirementsText.parse("a==1 ; " + marker).errors().get(0);
    assertTrue(error.detail().contains("more than 50 nested parentheses"), error.detail());
  }

  @Test
  void twoVersionsOfOneNameAreRefusedWithBothLines() {
    RequirementsText parsed = RequirementsText.parse("Foo_Bar==1.0\n# between\nfoo.bar==2.0\n");
    assertEquals(
        List.of(
            new FieldError(
                "/requirements",
                3,
                "conflict",
                "foo-bar has version 2.0 here and 1.0 in line 1. Remove one of the lines.")),
        parsed.errors());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a==1\na==1",
        "a==1\nA==1 # again",
        "a==1\na[x]==1",
        "a==1.0rc1\na==1.0RC1",
        "a==1 ; python_version < '3.12'\na==2 ; python_version >= '3.12'"
      })
  void oneVersionTwiceOrTwoUnderTwoMarkersAreNoConflict(String text) {
    assertEquals(List.of(), RequirementsText.parse(text).errors());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a==1\na==2 ; python_version < '3.12'",
        "a==1 ; python_version < '3.12'\na==2",
        "a==1 ; python_version < '3.12'\na==2 ;  python_version  <  '3.12'",
        "a[x]==1\na[y]==2"
      })
  void twoVersionsThatMeetAreAConflict(String text) {
    assertEquals(
        List.of("2 conflict"),
        RequirementsText.parse(text).errors().stream()
            .map(error -> error.line() + " " + error.code())
            .toList());
  }

  @Test
  void everyMistakeIsReportedInOrderWhateverEndsTheLines() {
    for (String end : List.of("\n", "\r\n", "\r")) {
      List<FieldError> errors =
          RequirementsText.parse(String.join(end, "a", "b==1", "-r c", "b==2", "# d", "e==*"))
              .errors();
      assertEquals(
          List.of("1 unpinned", "3 option", "4 conflict", "6 unpinned"),
          errors.stream().map(error -> error.line() + " " + error.code()).toList());
    }
  }

  /** Regular expressions with repeated groups recurse in Java. */
  @ParameterizedTest
  @ValueSource(strings = {"a==1%s", "a==1+b%s", "a>=1%s", "a==1%s!", "a[x%s]==1", "a%s==1"})
  void aVeryLongLineIsReadWithoutOverflowingTheStack(String pattern) {
    RequirementsText.parse(pattern.formatted(".1".repeat(32_000)));
  }

  @Test
  void aLongLineIsShortenedInTheMessage() {
    String detail = RequirementsText.parse("-" + "x".repeat(10_000)).errors().get(0).detail();
    assertTrue(detail.length() < 400, detail);
  }

  @Test
  void orderCaseSpellingCommentsAndLineEndsMakeNoDifference() {
    Random random = new Random(20261121);
    for (int round = 0; round < 500; round++) {
      List<String> lines = new ArrayList<>();
      for (int i = random.nextInt(10); i > 0; i--) {
        String extras = random.nextInt(3) == 0 ? "[b-c,x]" : "";
        String marker = random.nextInt(3) == 0 ? " ; python_version < '3.12'" : "";
        lines.add("some-name-%d%s==%d.%d%s".formatted(i, extras, i, random.nextInt(20), marker));
      }
      RequirementsText plain = RequirementsText.parse(String.join("\n", lines));
      assertEquals(List.of(), plain.errors());
      assertEquals(lines.stream().sorted().toList(), plain.requirements().lines());
      RequirementsText again =
          RequirementsText.parse(String.join("\n", plain.requirements().lines()));
      assertEquals(
          plain.requirements(), again.requirements(), "normalising what is normal changes nothing");

      List<String> varied = new ArrayList<>();
      for (String line : lines) {
        varied.add(vary(line, random));
        if (random.nextInt(3) == 0) {
          varied.add(random.nextBoolean() ? "" : "  # some-name-1==99");
        }
      }
      Collections.shuffle(varied, random);
      String end = List.of("\n", "\r\n", "\r").get(random.nextInt(3));
      assertParsed(plain.requirements().lines(), String.join(end, varied));
    }
  }

  private static void assertParsed(List<String> lines, String text) {
    assertEquals(
        new RequirementsText(text, new Requirements(lines), List.of()),
        RequirementsText.parse(text));
  }

  private static String vary(String line, Random random) {
    String[] parts = line.split("==", 2);
    StringBuilder name = new StringBuilder();
    for (char c : parts[0].replace("[b-c,x]", "[ x,B_C ,x]").toCharArray()) {
      boolean separator = c == '-';
      name.append(
          separator ? List.of("-", "_", ".", "-_.").get(random.nextInt(4)) : anyCase(c, random));
    }
    String space = " ".repeat(random.nextInt(3));
    String comment = random.nextBoolean() ? "" : "  # " + line;
    return space + name + space + "==" + space + parts[1].replace(" <", space + " <") + comment;
  }

  private static char anyCase(char c, Random random) {
    return random.nextBoolean() ? Character.toUpperCase(c) : c;
  }
}
