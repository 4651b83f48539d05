package dev.roost.runtime.local;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Await;
import dev.roost.runtime.Egress;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Requirements;
import dev.roost.runtime.Runtime.BuildOutput;
import dev.roost.runtime.Runtime.BuildSpec;
import dev.roost.runtime.Runtime.ExecutorSpec;
import dev.roost.runtime.Runtime.Removal;
import dev.roost.runtime.Runtime.UnsupportedPython;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LocalRuntimeIT {
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private static Path root;
  private static DataDirectory data;
  private static LocalRuntime runtime;

  @BeforeAll
  static void start() throws Exception {
    root = Files.createTempDirectory("roost-runtime").toRealPath();
    data = new DataDirectory(root);
    data.create();
    runtime = runtime();
  }

  @AfterAll
  static void end() throws Exception {
    runtime.close();
    assertEquals(List.of(), LiveProcess.workingIn(root));
    PrivateFiles.deleteTree(root);
  }

  @Test
  void aBuildWithACompiledPackageIsThereAfterwards() throws Exception {
    String version = runtime.describe().defaultPythonVersion();
    startBuild("bjob_compiled", "key_compiled", version, "pydantic==2.9.2", "six==1.16.0");
    JsonNode result = result("bjob_compiled");
    assertEquals("succeeded", result.path("outcome").asText(), result.toString());
    List<String> names = result.path("packages").findValuesAsText("name");
    assertTrue(names.containsAll(List.of("pydantic", "pydantic_core", "six")), names.toString());
    assertTrue(result.path("size_bytes").asLong() > 1_000_000);
    assertTrue(runtime.hasBuild("key_compiled"));
    Programs.Result imported =
        Programs.run(
            List.of(
                data.builds().resolve("key_compiled/bin/python").toString(),
                "-I",
                "-c",
                "import pydantic, six; print(pydantic.VERSION)"),
            Map.of(),
            Duration.ofSeconds(60));
    assertEquals("2.9.2", imported.output().strip(), imported.errors());
    assertFalse(Files.exists(root.resolve("builder-jobs/bjob_compiled/tmp")));

    assertEquals(Removal.DONE, runtime.deleteBuild("key_compiled", null));
    assertFalse(runtime.hasBuild("key_compiled"));
  }

  @Test
  void whatLiesThereIsReported() throws Exception {
    String version = runtime.describe().defaultPythonVersion();
    startBuild("bjob_lies", "key_lies", version);
    result("bjob_lies");
    Files.createDirectories(root.resolve("builds/.deleted-x"));
    assertTrue(runtime.builds(Instant.now()).contains("key_lies"));
    assertFalse(runtime.builds(Instant.now()).contains(".deleted-x"));
    assertFalse(runtime.builds(Instant.now().minusSeconds(3600)).contains("key_lies"));
  }

  @Test
  void theCacheIsPrunedButNotWhileABuildIsAtWork() throws Exception {
    // Of a version of uv's that is no more: prune removes it.
    Path outdated = Files.createDirectories(root.resolve("cache/uv/wheels-v0/some"));
    JobDirectory job = new JobDirectory(root.resolve("builder-jobs/bjob_working"));
    job.create();
    Path output = job.path().resolve("log");
    job.start(List.of("/bin/sleep", "100"), Map.of(), output, output);
    assertFalse(runtime.tidyUp());
    assertTrue(Files.exists(outdated));
    job.end(Duration.ofSeconds(1));
    assertTrue(runtime.tidyUp());
    assertFalse(Files.exists(outdated));
    runtime.deleteBuilderJob("bjob_working");
  }

  @Test
  void noRequirementsAreBuiltWithEveryInterpreter() throws Exception {
    for (String version : runtime.describe().pythonVersions()) {
      String name = version.replace('.', '_');
      startBuild("bjob_none_" + name, "key_none_" + name, version);
      assertEquals("succeeded", result("bjob_none_" + name).path("outcome").asText());
      assertTrue(runtime.hasBuild("key_none_" + name));
    }
  }

  @Test
  void aFailedBuildSaysWhyAndItsLogCanBeReadInPieces() throws Exception {
    String version = runtime.describe().defaultPythonVersion();
    startBuild("bjob_failing", "key_failing", version, "requests==2.32.3", "urllib3==1.20");
    JsonNode result = result("bjob_failing");
    assertEquals("requirements_conflict", result.path("reason").asText(), result.toString());
    assertTrue(result.path("message").asText().contains("urllib3"), result.toString());
    assertFalse(runtime.hasBuild("key_failing"));
    BuildOutput all = runtime.buildOutput("bjob_failing", 0);
    assertTrue(String.join("\n", all.lines()).contains("No solution found"));
    assertFalse(String.join("\n", all.lines()).contains("outcome"));
    assertEquals(List.of(), runtime.buildOutput("bjob_failing", all.next()).lines());

    assertTrue(runtime.builderJobs().contains("bjob_failing"));
    runtime.deleteBuilderJob("bjob_failing");
    Await.until("it is deleted", LIMIT, () -> !runtime.builderJobs().contains("bjob_failing"));
    assertInstanceOf(Observation.Absent.class, runtime.observeBuild("bjob_failing"));
  }

  @Test
  void aKilledBuildLeavesNothingThatLooksFinished() throws Exception {
    String version = runtime.describe().defaultPythonVersion();
    startBuild("bjob_killed", "key_killed", version, "numpy==2.3.1", "pandas==2.3.0");
    JobDirectory job = new JobDirectory(root.resolve("builder-jobs/bjob_killed"));
    Await.until("it works", LIMIT, () -> Files.exists(job.path().resolve("tmp/environment")));
    job.process().orElseThrow().kill();
    Await.until(
        "it is ended",
        LIMIT,
        () -> runtime.observeBuild("bjob_killed") instanceof Observation.Ended);
    Observation.Ended ended =
        assertInstanceOf(Observation.Ended.class, runtime.observeBuild("bjob_killed"));
    assertEquals(null, ended.result());
    assertFalse(runtime.hasBuild("key_killed"));
    // uv itself may still run, and write: as in the reconciler, what is left is for the next time.
    Await.until(
        "it is gone",
        LIMIT,
        () -> {
          runtime.deleteBuilderJob("bjob_killed");
          return !runtime.builderJobs().contains("bjob_killed");
        });
    assertEquals(List.of(), LiveProcess.workingIn(job.path()));
    assertFalse(runtime.hasBuild("key_killed"));
  }

  @Test
  void anExecutorIsStartedOnceSurvivesItsControlPlaneAndIsEndedCompletely() throws Exception {
    String version = runtime.describe().defaultPythonVersion();
    startBuild("bjob_executor", "key_executor", version);
    result("bjob_executor");
    ExecutorSpec spec =
        new ExecutorSpec(
            "xtor_1",
            "key_executor",
            null,
            version,
            "the-token",
            256,
            0.5,
            null,
            Egress.ALL,
            Map.of("agent", "hello"));
    runtime.startExecutor(spec);
    JobDirectory job = new JobDirectory(root.resolve("executors/xtor_1"));
    LiveProcess process = job.process().orElseThrow();
    Await.until("its runner works", LIMIT, () -> LiveProcess.workingIn(job.path()).size() > 1);
    assertEquals(
        "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(job.path())));
    String arguments = String.join(" ", process.arguments());
    assertFalse(arguments.contains("the-token"), arguments);
    String environment = Files.readString(Path.of("/proc/" + process.pid() + "/environ"));
    assertFalse(environment.contains("ROOST_"), environment);
    assertFalse(environment.contains("the-token"), environment);

    runtime.startExecutor(spec);
    assertEquals(process, job.process().orElseThrow());

    // The next control plane, also when the first was killed before it could write the number down.
    Files.delete(job.path().resolve("pid"));
    LocalRuntime next = runtime();
    assertInstanceOf(Observation.Running.class, next.observeExecutor("xtor_1"));
    assertEquals(process, job.process().orElseThrow());
    assertEquals(Set.of("xtor_1"), next.executors());

    next.stopExecutor("xtor_1");
    // What was killed may end a moment later.
    Await.until("all of it has ended", LIMIT, () -> LiveProcess.workingIn(job.path()).isEmpty());
    assertInstanceOf(Observation.Ended.class, next.observeExecutor("xtor_1"));
    next.deleteExecutor("xtor_1");
    Await.until("it is deleted", LIMIT, () -> next.executors().isEmpty());
    assertInstanceOf(Observation.Absent.class, next.observeExecutor("xtor_1"));
  }

  @Test
  void anotherProcessWithTheSameNumberIsNotTakenForTheExecutor() throws Exception {
    JobDirectory job = new JobDirectory(root.resolve("executors/xtor_reused"));
    job.create();
    long own = ProcessHandle.current().pid();
    LiveProcess now = LiveProcess.of(own).orElseThrow();
    Files.writeString(
        job.path().resolve("pid"), new LiveProcess(own, now.startTicks() - 1, now.bootId()).text());
    assertInstanceOf(Observation.Ended.class, runtime.observeExecutor("xtor_reused"));
    runtime.deleteExecutor("xtor_reused");
    Await.until("it is deleted", LIMIT, () -> !runtime.executors().contains("xtor_reused"));
  }

  @Test
  void aPythonThatIsNotThereIsRefusedWithThoseThatAre() {
    UnsupportedPython failure =
        assertThrows(UnsupportedPython.class, () -> runtime.baseIdentity("3.1"));
    assertTrue(
        failure.getMessage().contains(runtime.describe().defaultPythonVersion()),
        failure.getMessage());
  }

  @Test
  void noNameLeadsOutOfTheDataDirectory() {
    assertThrows(IllegalArgumentException.class, () -> runtime.deleteBuild("../database", null));
    assertThrows(IllegalArgumentException.class, () -> runtime.deleteExecutor(".."));
    assertThrows(IllegalArgumentException.class, () -> runtime.observeBuild("a/b"));
  }

  @Test
  void executorsReachAControlPlaneThatListensEverywhere() {
    assertEquals("http://127.0.0.1:8080", LocalRuntime.executorUrl("0.0.0.0", 8080));
    assertEquals("http://[::1]:8080", LocalRuntime.executorUrl("::1", 8080));
    assertEquals("http://192.0.2.7:1", LocalRuntime.executorUrl("192.0.2.7", 1));
  }

  @Test
  void childrenGetNothingOfTheControlPlanesSettings() {
    Map<String, String> own =
        Map.of(
            "PATH",
            "/usr/bin",
            "ROOST_DATABASE_PASSWORD",
            "s",
            "UV_INDEX_X_PASSWORD",
            "s",
            "TZ",
            "UTC",
            "QUARKUS_X",
            "s",
            "AWS_SECRET_ACCESS_KEY",
            "s");
    assertEquals(
        Map.of("PATH", "/b/bin:/usr/bin", "LANG", "C.UTF-8", "TZ", "UTC"),
        ChildEnvironment.forExecutor(own, Path.of("/b")));
  }

  private static LocalRuntime runtime() throws Exception {
    return new LocalRuntime(TestLocalSettings.roost(root, Map.of("roost.port", "1")));
  }

  private static void startBuild(String id, String key, String version, String... requirements) {
    runtime.startBuild(
        new BuildSpec(
            id, "agent_1", key, "base", version, new Requirements(List.of(requirements)), 120));
  }

  private static JsonNode result(String builderJobId) throws Exception {
    Await.until(
        builderJobId + " ends",
        () -> runtime.observeBuild(builderJobId) instanceof Observation.Ended);
    Observation.Ended ended =
        assertInstanceOf(Observation.Ended.class, runtime.observeBuild(builderJobId));
    return new ObjectMapper().readTree(ended.result());
  }
}
