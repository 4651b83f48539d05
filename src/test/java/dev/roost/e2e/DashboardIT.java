package dev.roost.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The dashboard in a browser. The tests themselves are src/test/python/dashboard; they get a Roost
 * of this runtime here, and their output is this test's.
 */
@EveryRuntime
@Order(1) // The longest: the others run beside it.
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DashboardIT {
  private static final Path TESTS = Path.of("src", "test", "python", "dashboard");
  private static final Duration LIMIT = Duration.ofMinutes(30);
  private static final Pattern LINK = Pattern.compile("^Dashboard: (\\S+)$", Pattern.MULTILINE);

  private static String browser;
  private static RoostProcess roost;

  @BeforeAll
  static void start() {
    browser = browser();
    roost = RoostProcess.started("ROOST_WEBHOOKS_ALLOWED_NETWORKS", "127.0.0.0/8");
    // It answers before it has printed where to go.
    Eventually.until("the link is printed", () -> LINK.matcher(roost.output()).find());
  }

  @AfterAll
  static void stop() {
    if (roost != null) {
      roost.close();
    }
  }

  /** First, since the first of them is to find a Roost that nobody has used. */
  @Test
  @Order(1)
  void buildsAndExecutionsAreUsedAndExplained() {
    check("runtime");
  }

  @Test
  @Order(2)
  @LocalOnly("what the pages show and do is the same on every runtime")
  void peopleGetDoneWhatTheyCameFor() {
    check("journeys");
  }

  @Test
  @Order(3)
  @LocalOnly("the pages are the same on every runtime")
  void everyPageCanBeUsedByEverybodyAndIsSmall() {
    check("pages");
  }

  private static void check(String folder) {
    Output output =
        python(List.of("-m", "pytest", "-q", "-rfEs", TESTS.resolve(folder).toString()));
    System.out.println(output.text());
    assertEquals(0, output.status(), output::text);
  }

  /** The path of a browser; without one the tests are left out, or fail. */
  private static String browser() {
    Output output = python(List.of(TESTS.resolve("browsers.py").toString()));
    if (output.status() != 0) {
      LeftOut.say("the tests of the dashboard: " + output.text().strip());
    }
    return output.text().strip().lines().reduce((first, last) -> last).orElseThrow();
  }

  private record Output(int status, String text) {}

  /** Runs the Python of the pinned tools to its end. */
  private static Output python(List<String> arguments) {
    List<String> command = new ArrayList<>(List.of("python3", "src/test/python/tools.py"));
    command.addAll(arguments);
    try {
      Path text = Files.createTempFile("roost-e2e-", ".out");
      try {
        ProcessBuilder builder =
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(text.toFile());
        if (roost != null) {
          builder.environment().putAll(settings());
        }
        Process process = builder.start();
        process.getOutputStream().close();
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
          process.descendants().forEach(ProcessHandle::destroyForcibly);
          process.destroyForcibly();
          throw new AssertionError("no end of " + command + ":\n" + Files.readString(text));
        }
        return new Output(process.exitValue(), Files.readString(text));
      } finally {
        Files.deleteIfExists(text);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static Map<String, String> settings() {
    Matcher link = LINK.matcher(roost.output());
    link.find();
    return Map.of(
        "ROOST_TEST_URL",
        roost.url(),
        "ROOST_TEST_API_KEY",
        roost.key(),
        "ROOST_TEST_LINK",
        link.group(1),
        "ROOST_TEST_DATA",
        roost.data().toString(),
        "ROOST_TEST_BROWSER",
        browser);
  }
}
