package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.roost.runtime.Runtime.BuildOutput;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BuildLogsTest {
  private static final String ID = "bjob_1";
  private static final String SUCCEEDED = "{\"outcome\": \"succeeded\", \"image\": \"a@sha256:1\"}";
  private static final String FAILED = "{\"outcome\": \"failed\", \"reason\": \"lost\"}";

  private final Printed printed = new Printed();
  private final BuildLogs logs = new BuildLogs(printed);

  /** What the containers have printed, one line each second. */
  private static final class Printed implements BuildLogs.Source {
    final Map<String, List<String>> lines = new HashMap<>();
    final Set<String> unreadable = new HashSet<>();
    int asked;

    void print(String container, String... texts) {
      lines.computeIfAbsent(container, name -> new ArrayList<>()).addAll(List.of(texts));
    }

    @Override
    public InputStream log(String podName, String container, Instant since) {
      asked++;
      check(container);
      if (!lines.containsKey(container)) {
        return null;
      }
      StringBuilder text = new StringBuilder();
      Instant time = Instant.parse("2026-11-21T18:00:00.25Z");
      for (String line : lines.get(container)) {
        if (!time.isBefore(since)) {
          text.append(time).append(' ').append(line).append('\n');
        }
        time = time.plusSeconds(1);
      }
      return new ByteArrayInputStream(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String lastLine(String podName, String container, int parts) {
      check(container);
      List<String> all = lines.getOrDefault(container, List.of(""));
      return all.get(all.size() - 1);
    }

    private void check(String container) {
      if (unreadable.contains(container)) {
        throw new RuntimeUnavailable("the node does not answer", null);
      }
    }
  }

  /** A build whose containers have come so far: "waiting", "running" or "ended" each. */
  private static Pod pod(String build, String push) {
    String phase = push.equals("ended") ? "Succeeded" : "Pending";
    return new PodBuilder()
        .withNewMetadata()
        .withName("builder-1-abcde")
        .endMetadata()
        .withNewStatus()
        .withPhase(phase)
        .withInitContainerStatuses(status("tools", "ended"), status("build", build))
        .withContainerStatuses(status("push", push))
        .endStatus()
        .build();
  }

  private static ContainerStatus status(String name, String state) {
    ContainerStatusBuilder status = new ContainerStatusBuilder().withName(name);
    return switch (state) {
      case "waiting" -> status.withNewState().withNewWaiting().endWaiting().endState().build();
      case "running" -> status.withNewState().withNewRunning().endRunning().endState().build();
      case "ended" ->
          status
              .withNewState()
              .withNewTerminated()
              .withExitCode(0)
              .endTerminated()
              .endState()
              .build();
      default -> throw new IllegalArgumentException(state);
    };
  }

  private static Pod failed() {
    return new PodBuilder(pod("ended", "waiting"))
        .editStatus()
        .withPhase("Failed")
        .endStatus()
        .build();
  }

  @Test
  void theContainersOutputsAreOneTextWithoutTheResult() {
    printed.print("build", "Resolved 2 packages", "Installed 2 packages");
    printed.print("push", "pushed", SUCCEEDED);
    BuildOutput all = logs.read(ID, pod("ended", "ended"), 0);
    assertEquals(List.of("Resolved 2 packages", "Installed 2 packages"), all.lines());
    BuildOutput rest = logs.read(ID, pod("ended", "ended"), all.next());
    assertEquals(List.of("pushed"), rest.lines());
    assertEquals(List.of(), logs.read(ID, pod("ended", "ended"), rest.next()).lines());
  }

  @Test
  void anotherReplicaContinuesWhereThisOneWas() {
    printed.print("build", "1", "2", "3");
    BuildOutput here = logs.read(ID, pod("running", "waiting"), 0);
    assertEquals(List.of("1", "2", "3"), here.lines());
    printed.print("build", "4");
    printed.print("push", "5", SUCCEEDED);
    BuildLogs there = new BuildLogs(printed);
    List<String> found = new ArrayList<>();
    long position = here.next();
    for (int i = 0; i < 3; i++) {
      BuildOutput output = there.read(ID, pod("ended", "ended"), position);
      found.addAll(output.lines());
      position = output.next();
    }
    assertEquals(List.of("4", "5"), found);
  }

  @Test
  void aPositionThatIsReplayedGivesTheSameLines() {
    printed.print("build", "1", "2", "3");
    Pod pod = pod("running", "waiting");
    BuildOutput first = logs.read(ID, pod, 0);
    assertEquals(first, logs.read(ID, pod, 0));
    assertEquals(List.of("3"), new BuildLogs(printed).read(ID, pod, 2).lines());
  }

  @Test
  void whatDidNotStartHasNoOutput() {
    assertEquals(List.of(), logs.read(ID, pod("waiting", "waiting"), 0).lines());
  }

  @Test
  void aRunningBuildIsPolledAtMostOncePerSecond() {
    printed.print("build", "1");
    Pod pod = pod("running", "waiting");
    long position = logs.read(ID, pod, 0).next();
    int asked = printed.asked;
    for (int i = 0; i < 20; i++) {
      position = logs.read(ID, pod, position).next();
    }
    assertEquals(asked, printed.asked);
  }

  @Test
  void aFailureOnTheWayLosesNoLine() {
    printed.print("build", "1", "2");
    printed.print("push", "3", SUCCEEDED);
    Pod pod = pod("ended", "ended");
    printed.unreadable.add("push");
    BuildOutput first = logs.read(ID, pod, 0);
    assertEquals(List.of("1", "2"), first.lines());
    assertThrows(RuntimeUnavailable.class, () -> logs.read(ID, pod, first.next()));
    printed.unreadable.clear();
    assertEquals(List.of("3"), logs.read(ID, pod, first.next()).lines());
  }

  @Test
  void aBuildThatFailsShowsAllThatItPrinted() {
    printed.print("build", "error: no such package", FAILED);
    assertEquals(List.of("error: no such package"), logs.read(ID, failed(), 0).lines());
    assertEquals(Optional.of(FAILED), logs.result(failed()));
  }

  @Test
  void onlyTheContainerThatPushesCanReportSuccess() {
    printed.print("build", SUCCEEDED);
    assertEquals(Optional.empty(), logs.result(failed()));
    printed.print("push", SUCCEEDED);
    assertEquals(Optional.of(SUCCEEDED), logs.result(pod("ended", "ended")));
    printed.print("push", "a crash");
    assertEquals(Optional.empty(), logs.result(pod("ended", "ended")));
  }
}
