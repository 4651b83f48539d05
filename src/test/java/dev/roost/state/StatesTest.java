package dev.roost.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.roost.db.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A state is a constant of an enum; its text stands in that enum, in SQL and nowhere else. */
class StatesTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/roost");

  /** Enums by the table with their column {@code state}. */
  private static final Map<String, String> TABLES =
      Map.ofEntries(
          Map.entry("approval", "ApprovalState"),
          Map.entry("builder_job", "BuilderJobState"),
          Map.entry("execution", "ExecutionState"),
          Map.entry("executor", "ExecutorState"),
          Map.entry("executor_job", "ExecutorJobState"),
          Map.entry("file", "FileState"),
          Map.entry("issue", "IssueState"),
          Map.entry("notification_channel", "ChannelState"),
          Map.entry("notification_message", "MessageState"),
          Map.entry("rollout", "RolloutState"),
          Map.entry("rollout_agent", "RolloutAgentState"),
          Map.entry("schedule", "ScheduleState"),
          Map.entry("webhook", "WebhookState"),
          Map.entry("webhook_delivery", "DeliveryState"));

  /** The same words with other meanings, by class. */
  private static final Set<String> OTHER_WORDS =
      Set.of(
          // Types of frames.
          "Frame: failed",
          "Frame: suspended",
          // The result that a builder reports.
          "BuilderReconciler: succeeded",
          "RegistryJob: succeeded",
          // Results of one attempt at a delivery, which is tried again.
          "DeliveryMeters: failed",
          "DeliveryMeters: succeeded",
          // The state of PostgreSQL.
          "Postmaster: ready",
          // What is counted of schedules.
          "Gauges: due",
          // Names of spans.
          "Traces: queued",
          "Traces: starting",
          // A word of a description.
          "Intake: rejected",
          // States of another service's API.
          "CompatCronJobs: running",
          "CompatCronJobs: suspended",
          // Fields of requests.
          "BundleRequest: removed",
          "ApprovalLinksResource: approved",
          "ExecutorJobsResource: running",
          "ExecutorLinkResource: running");

  private static final Pattern COMMENT_OR_TEXT_BLOCK =
      Pattern.compile("(?s)/\\*.*?\\*/|\"\"\".*?\"\"\"|(?<![:\"])//[^\\n]*");

  /** A literal that is one word; but columns and parameters are parts of their SQL. */
  private static final Pattern WORD =
      Pattern.compile(
          "(?<!\\.get(?:String|Int|Long|Double|Boolean)\\(|\\.with\\(|\\(row, )\"([a-z_]+)\"");

  @Test
  void noLiteralIsAState() throws IOException {
    Set<String> codes = new TreeSet<>();
    Set<String> enums = new TreeSet<>();
    states()
        .forEach(
            (name, constants) -> {
              enums.add(name + ".java");
              codes.addAll(constants);
            });
    Set<String> found = new TreeSet<>();
    try (Stream<Path> files = Files.walk(SOURCES)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        String name = file.getFileName().toString();
        if (enums.contains(name)) {
          continue;
        }
        String text = COMMENT_OR_TEXT_BLOCK.matcher(Files.readString(file)).replaceAll("");
        for (Matcher word = WORD.matcher(text); word.find(); ) {
          if (codes.contains(word.group(1))) {
            found.add(name.replace(".java", ": ") + word.group(1));
          }
        }
      }
    }
    assertEquals(new TreeSet<>(OTHER_WORDS), found, "use the constants of the enums");
  }

  /**
   * Reads the constraints that tables are created with, and those that later migrations replace.
   */
  @Test
  void columnsAllowTheConstantsOfTheirEnum() throws IOException {
    Pattern table =
        Pattern.compile("(?ms)^create (?:unlogged )?table (?:if not exists )?(\\w+) \\((.*?)^\\);");
    Pattern state = Pattern.compile("(?m)^ +state text [^\\n]*check \\(state in \\(([^)]*)\\)\\)");
    Pattern replaced =
        Pattern.compile("add constraint (\\w+)_state_check\\s+check \\(state in \\(([^)]*)\\)\\)");
    Map<String, List<String>> columns = new TreeMap<>();
    Map<Integer, Map<String, List<String>>> replacements = new TreeMap<>();
    try (Stream<Path> migrations = Files.list(Path.of("src/main/resources/db/migration"))) {
      for (Path migration : migrations.toList()) {
        String text = Files.readString(migration);
        for (Matcher changed = replaced.matcher(text); changed.find(); ) {
          String name = migration.getFileName().toString();
          replacements
              .computeIfAbsent(
                  Integer.parseInt(name.substring(1, name.indexOf("__"))), key -> new TreeMap<>())
              .put(changed.group(1), constants(changed.group(2)));
        }
        for (Matcher created = table.matcher(text); created.find(); ) {
          Matcher column = state.matcher(created.group(2));
          if (column.find()) {
            columns.put(created.group(1), constants(column.group(1)));
          }
        }
      }
    }
    // In the order of the versions.
    replacements.values().forEach(columns::putAll);
    Map<String, List<String>> enums = new TreeMap<>();
    Map<String, List<String>> states = states();
    TABLES.forEach((name, type) -> enums.put(name, states.get(type)));
    assertEquals(enums, columns);
  }

  private static List<String> constants(String literals) {
    return Arrays.stream(literals.split(","))
        .map(literal -> literal.strip().replace("'", ""))
        .toList();
  }

  /** The codes of all enums of states, by the name of the enum. */
  private static Map<String, List<String>> states() {
    Map<String, List<String>> states = new TreeMap<>();
    for (JavaClass type :
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.roost")) {
      if (type.isEnum()
          && type.isAssignableTo(Code.class)
          && type.getSimpleName().endsWith("State")) {
        states.put(
            type.getSimpleName(),
            Arrays.stream(type.reflect().getEnumConstants())
                .map(constant -> ((Code) constant).code())
                .toList());
      }
    }
    return states;
  }
}
