package dev.roost;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.GeneralCodingRules;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import jakarta.inject.Inject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which package may know which, and who alone may do what. */
class ArchitectureTest {
  private static final String ROOT = "dev.roost";

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  /**
   * What each package may use. One that is not listed here fails {@link #everyPackageHasItsPlace}.
   */
  private static final Map<String, Set<String>> MAY_USE =
      Map.ofEntries(
          Map.entry("config", Set.of()),
          Map.entry("db", Set.of()),
          // The states of what several packages read.
          Map.entry("state", Set.of("db")),
          Map.entry("runtime", Set.of("config")),
          // Only for RuntimeUnavailable, which becomes a problem document.
          Map.entry("api", Set.of("config", "db", "oauth", "runtime")),
          // Access tokens of an identity provider.
          Map.entry("oauth", Set.of("config")),
          // Serves files alone.
          Map.entry("web", Set.of()),
          Map.entry(
              "agent",
              Set.of(
                  "api",
                  "builds",
                  "bundle",
                  "cluster",
                  "config",
                  "datastore",
                  "db",
                  "runtime",
                  "state")),
          Map.entry("builds", Set.of("api", "cluster", "config", "db", "log", "runtime", "state")),
          // One request for many agents or jobs.
          Map.entry(
              "bulk", Set.of("agent", "api", "config", "db", "execution", "schedule", "state")),
          Map.entry("bundle", Set.of("api", "cluster", "config", "db", "file")),
          Map.entry("cluster", Set.of("api", "config", "db", "oauth")),
          Map.entry("datastore", Set.of("api", "cluster", "config", "db")),
          Map.entry("event", Set.of("api", "cluster", "db")),
          Map.entry(
              "execution",
              Set.of(
                  "agent",
                  "api",
                  "cluster",
                  "config",
                  "datastore",
                  "db",
                  "event",
                  "file",
                  "log",
                  "state",
                  "trace")),
          Map.entry(
              "executor",
              Set.of(
                  "agent",
                  "api",
                  "builds",
                  "bundle",
                  "cluster",
                  "config",
                  "datastore",
                  "db",
                  "execution",
                  "intake",
                  "log",
                  "runtime",
                  "state",
                  "trace")),
          Map.entry("file", Set.of("api", "cluster", "config", "db")),
          Map.entry("intake", Set.of("api", "config")),
          Map.entry("gallery", Set.of("api")),
          Map.entry(
              "issue",
              Set.of("agent", "api", "cluster", "db", "event", "execution", "state", "trace")),
          Map.entry("log", Set.of("api", "cluster", "db")),
          // Another way to what the REST API does.
          Map.entry(
              "mcp",
              Set.of(
                  "agent",
                  "api",
                  "builds",
                  "cluster",
                  "config",
                  "datastore",
                  "db",
                  "execution",
                  "file",
                  "log",
                  "runtime",
                  "state",
                  "trace")),
          Map.entry("metrics", Set.of("api", "config", "db", "runtime", "state")),
          Map.entry("notification", Set.of("api", "cluster", "config", "db", "event", "webhook")),
          // Reports on everything, and nothing needs it.
          Map.entry("overview", Set.of("agent", "api", "db", "runtime", "state")),
          Map.entry(
              "rollout", Set.of("agent", "api", "builds", "cluster", "config", "db", "runtime")),
          // Deletes what each package says is old.
          Map.entry(
              "retention",
              Set.of(
                  "agent",
                  "api",
                  "builds",
                  "bundle",
                  "cluster",
                  "config",
                  "db",
                  "event",
                  "execution",
                  "executor",
                  "file",
                  "issue",
                  "notification",
                  "runtime",
                  "search",
                  "webhook")),
          Map.entry("runtime.kubernetes", Set.of("api", "config", "runtime")),
          Map.entry("runtime.local", Set.of("api", "config", "runtime")),
          Map.entry(
              "schedule",
              Set.of("agent", "api", "cluster", "config", "db", "event", "execution", "state")),
          Map.entry("search", Set.of("agent", "api", "cluster", "config", "db", "event")),
          // The API of another service, over the same features; no package knows it.
          Map.entry(
              "swarmnode",
              Set.of(
                  "agent",
                  "api",
                  "builds",
                  "cluster",
                  "config",
                  "datastore",
                  "db",
                  "event",
                  "execution",
                  "file",
                  "log",
                  "runtime",
                  "schedule",
                  "state")),
          Map.entry("trace", Set.of("api", "config", "db", "state")),
          // Serves agents to whoever calls their URLs.
          Map.entry(
              "url",
              Set.of(
                  "agent",
                  "api",
                  "cluster",
                  "config",
                  "db",
                  "execution",
                  "intake",
                  "state",
                  "trace",
                  "webhook")),
          Map.entry("view", Set.of("api", "db")),
          Map.entry(
              "webhook", Set.of("agent", "api", "cluster", "config", "db", "event", "state")));

  /** Puts the parts together, so it knows them all, and no part knows it. */
  private static final DescribedPredicate<JavaClass> WIRING =
      DescribedPredicate.describe(
          "wiring", javaClass -> javaClass.getPackageName().equals(ROOT + ".start"));

  /** Talks to the person at the terminal. */
  private static final DescribedPredicate<JavaClass> START_UP =
      DescribedPredicate.describe(
          "start-up",
          javaClass ->
              Set.of(
                      "dev.roost.start.Welcome",
                      "dev.roost.start.LocalApplication",
                      "dev.roost.start.Main")
                  .contains(outermost(javaClass)));

  static Stream<String> packages() {
    return MAY_USE.keySet().stream().sorted();
  }

  @ParameterizedTest
  @MethodSource("packages")
  void dependenciesPointOneWay(String name) {
    Set<String> others = new TreeSet<>(MAY_USE.keySet());
    others.remove(name);
    others.removeAll(MAY_USE.get(name));
    ArchRule rule =
        noClasses()
            .that(resideInAPackage(ROOT + "." + name).and(not(WIRING)))
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(
                        others.stream().map(other -> ROOT + "." + other).toArray(String[]::new))
                    .or(WIRING));
    rule.allowEmptyShould(true).check(CLASSES);
  }

  @Test
  void everyPackageHasItsPlace() {
    Set<String> unknown = new TreeSet<>();
    for (JavaClass javaClass : CLASSES) {
      if (!WIRING.test(javaClass)) {
        unknown.add(javaClass.getPackageName().substring(ROOT.length() + 1));
      }
    }
    unknown.removeAll(MAY_USE.keySet());
    assertEquals(Set.of(), unknown, "packages without a line in MAY_USE");
  }

  @Test
  void noPackagesDependOnEachOtherInACircle() {
    SliceAssignment byPackage =
        new SliceAssignment() {
          @Override
          public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            return WIRING.test(javaClass) || !javaClass.getPackageName().startsWith(ROOT)
                ? SliceIdentifier.ignore()
                : SliceIdentifier.of(javaClass.getPackageName());
          }

          @Override
          public String getDescription() {
            return "packages of Roost";
          }
        };
    SlicesRuleDefinition.slices().assignedFrom(byPackage).should().beFreeOfCycles().check(CLASSES);
  }

  /** So that a name in a stack trace, a comment or a search means one thing. */
  @Test
  void noTwoTopLevelTypesHaveOneName() throws IOException {
    Map<String, Long> files;
    try (Stream<Path> paths = Files.walk(Path.of("src"))) {
      files =
          paths
              .map(path -> path.getFileName().toString())
              .filter(name -> name.endsWith(".java"))
              .collect(Collectors.groupingBy(name -> name, Collectors.counting()));
    }
    files.values().removeIf(count -> count == 1);
    assertEquals(Map.of(), files);
  }

  @Test
  void onlyTheKubernetesRuntimeKnowsTheKubernetesClient() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".runtime.kubernetes..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.fabric8..")
        .check(CLASSES);
  }

  @Test
  void onlyTheLocalRuntimeStartsProcesses() {
    noClasses()
        .that()
        .resideOutsideOfPackages(ROOT + ".runtime.local..", ROOT + ".start..")
        .should()
        .dependOnClassesThat()
        .belongToAnyOf(ProcessBuilder.class, ProcessHandle.class, Process.class)
        .orShould()
        .callMethodWhere(
            DescribedPredicate.describe(
                "Runtime.exec",
                call ->
                    call.getTargetOwner().isEquivalentTo(Runtime.class)
                        && call.getName().equals("exec")))
        .check(CLASSES);
  }

  /** Elsewhere a statement is a text with named parameters, and a row has named columns. */
  @Test
  void onlyTheDatabasePackageBindsAndReadsByPosition() throws IOException {
    DescribedPredicate<JavaClass> database = resideInAPackage(ROOT + ".db");
    ArchRule byHand =
        noClasses()
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(Statement.class, PreparedStatement.class)
            .orShould()
            .callMethodWhere(
                DescribedPredicate.describe(
                    "a column by its position", ArchitectureTest::readsByPosition))
            .orShould()
            .callMethodWhere(
                DescribedPredicate.describe(
                    "a native query of Hibernate",
                    call -> call.getName().startsWith("createNative")));
    byHand.check(CLASSES.that(not(database)));
    assertTrue(byHand.evaluate(CLASSES.that(database)).hasViolation(), "the rule finds statements");

    Set<String> arrays = new TreeSet<>();
    try (Stream<Path> paths = Files.walk(Path.of("src/main/java"))) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        if (Files.readString(path).contains("Object[]")) {
          arrays.add(path.getParent().getFileName() + "/" + path.getFileName());
        }
      }
    }
    assertEquals(Set.of("db/Sql.java"), arrays, "rows without names");
  }

  private static boolean readsByPosition(JavaMethodCall call) {
    List<JavaClass> parameters = call.getTarget().getRawParameterTypes();
    return call.getTargetOwner().isAssignableTo(ResultSet.class)
        && call.getName().startsWith("get")
        && !parameters.isEmpty()
        && parameters.get(0).isEquivalentTo(int.class);
  }

  @Test
  void whatABeanNeedsComesThroughItsConstructor() {
    noFields()
        .should()
        .beAnnotatedWith(Inject.class)
        .orShould()
        .beAnnotatedWith(ConfigProperty.class)
        .check(CLASSES);
  }

  @Test
  void onlyTheStartWritesToTheTerminal() {
    noClasses()
        .that(not(START_UP))
        .should(GeneralCodingRules.ACCESS_STANDARD_STREAMS)
        .check(CLASSES);
  }

  private static String outermost(JavaClass javaClass) {
    return javaClass.getName().replaceFirst("\\$.*", "");
  }
}
