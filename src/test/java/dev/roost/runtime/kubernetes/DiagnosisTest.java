package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.builds.BuildReason;
import dev.roost.execution.ExecutionReason;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Shortage;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every file of {@code src/test/resources/kubernetes/diagnosis} is one way in which a Job and its
 * pod can wait, run or end, with what is to be said of it.
 */
class DiagnosisTest {
  private static final Path CASES = Path.of("src/test/resources/kubernetes/diagnosis");
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Pattern EXPECTED =
      Pattern.compile("^expected:.*?(?=^job:|\\z)", Pattern.DOTALL | Pattern.MULTILINE);

  static Stream<Path> cases() throws IOException {
    try (Stream<Path> files = Files.list(CASES)) {
      return files.sorted().toList().stream();
    }
  }

  private record Case(String of, JsonNode expected, Job job, Pod pod, String warning) {
    static Case read(Path file) throws IOException {
      JsonNode node =
          MAPPER.valueToTree(Serialization.unmarshal(Files.readString(file), Object.class));
      return new Case(
          node.path("of").textValue(),
          node.path("expected"),
          part(node, "job", Job.class),
          part(node, "pod", Pod.class),
          node.path("warning").textValue());
    }

    private static <T> T part(JsonNode node, String name, Class<T> type) {
      return node.has(name) ? Serialization.unmarshal(node.get(name).toString(), type) : null;
    }

    Observation seen() {
      return of.equals("build")
          ? Diagnosis.ofBuild(job, pod, warning)
          : Diagnosis.of(job, pod, warning);
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyCaseHasItsReasonAndMessage(Path file) throws IOException {
    Case one = Case.read(file);
    String said = MAPPER.writeValueAsString(said(one.seen()));
    if (Boolean.getBoolean("diagnosis.write")) {
      String text = EXPECTED.matcher(Files.readString(file)).replaceFirst(lines(one.seen()));
      Files.writeString(file, text);
    } else {
      assertEquals(
          one.expected().toPrettyString(),
          MAPPER.readTree(said).toPrettyString(),
          file + ": rewrite it with ./mvnw test -Dtest=DiagnosisTest -Ddiagnosis.write=true");
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyReasonIsOneThatTheApiKnows(Path file) throws IOException {
    Case one = Case.read(file);
    JsonNode reason = MAPPER.valueToTree(said(one.seen())).path("reason");
    List<String> known =
        one.of().equals("build")
            ? Arrays.stream(BuildReason.values()).map(BuildReason::code).toList()
            : Arrays.stream(ExecutionReason.values()).map(ExecutionReason::code).toList();
    assertTrue(reason.isMissingNode() || reason.isNull() || known.contains(reason.textValue()));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyMessageIsASentenceForAPerson(Path file) throws IOException {
    String message = MAPPER.valueToTree(said(Case.read(file).seen())).path("message").asText("");
    assertFalse(message.contains("null"), message);
    assertFalse(message.contains("Optional"), message);
    assertEquals(message.strip(), message);
  }

  @Test
  void onlyContainersThatEndedByThemselvesAreReadForTheirLastOutput() throws IOException {
    assertEquals(List.of("agent"), failed("agent_failed_sidecar_running"));
    assertEquals(List.of("agent", "sidecar"), failed("agent_failed"));
    assertEquals(List.of("build"), failed("build_failed"));
    assertEquals(List.of(), failed("build_out_of_memory"));
    assertEquals(List.of(), failed("command_not_found"));
    assertEquals(List.of(), failed("running"));
  }

  @Test
  void whatAnEventSaysOfAFullVolumeIsTheScriptsAffair() {
    String full = "Usage of EmptyDir volume \"work\" exceeds the limit \"1088Mi\". ";
    Observation.Ended cause = Diagnosis.causeOfEnd("Evicted: " + full);
    assertEquals("out_of_disk", cause.reason());
    assertEquals("Kubernetes says of its pod: Evicted: " + full.strip(), cause.message());
    assertNull(Diagnosis.causeOfEnd("Evicted: The node was low on resource: memory.").reason());
    assertNull(Diagnosis.causeOfEnd("NodeNotReady: Node is not ready").reason());
  }

  @Test
  void whatKubernetesSaysIsBoundedAndNamesNoPassword() {
    String said = "https://user:secret@registry.example.org/v2/: " + "x".repeat(5_000);
    String message = Diagnosis.causeOfEnd("Evicted: " + said).message();
    assertTrue(message.contains("https://***@registry.example.org"), message);
    assertTrue(message.length() < 1_100 && message.endsWith("…"), message);
  }

  private static List<String> failed(String name) throws IOException {
    return Diagnosis.failed(Case.read(CASES.resolve(name + ".yaml")).pod());
  }

  /**
   * @param lacks what it may get when others end
   */
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  private record Said(
      String state, @JsonInclude String reason, @JsonInclude String message, Set<String> lacks) {}

  private static Said said(Observation seen) {
    if (seen instanceof Observation.Pending pending) {
      Shortage shortage = pending.shortage();
      Set<String> lacks = shortage == null ? Set.of() : new TreeSet<>(shortage.resources());
      return new Said("pending", pending.reason(), pending.message(), lacks);
    } else if (seen instanceof Observation.Running running) {
      return new Said("running", null, running.problem(), Set.of());
    } else if (seen instanceof Observation.Ended ended) {
      return new Said("ended", ended.reason(), ended.message(), Set.of());
    }
    return new Said("absent", null, null, Set.of());
  }

  private static String lines(Observation seen) throws IOException {
    Said said = said(seen);
    List<String> lines = new ArrayList<>(List.of("expected:", "  state: " + said.state()));
    lines.add("  reason: " + said.reason());
    lines.add("  message: " + MAPPER.writeValueAsString(said.message()));
    if (!said.lacks().isEmpty()) {
      lines.add("  lacks: " + MAPPER.writeValueAsString(said.lacks()));
    }
    return Matcher.quoteReplacement(String.join("\n", lines) + "\n");
  }
}
