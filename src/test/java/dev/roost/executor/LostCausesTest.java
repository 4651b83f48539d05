package dev.roost.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.execution.ExecutionReason;
import dev.roost.execution.Frame;
import dev.roost.execution.Outcome;
import dev.roost.runtime.Observation;
import dev.roost.state.ExecutionState;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LostCausesTest {
  private static final String TERMINATED =
      """
      {"seq": 1, "type": "failed", "state": "lost", "reason": "executor_lost", "message": %s,
       "error": null, "time": "2026-05-04T10:00:00.000000Z", "logs_truncated": true, "usage": {}}
      """;

  private static Outcome outcome(String message, Optional<Observation.Ended> cause) {
    byte[] line = TERMINATED.formatted(message).replace('\n', ' ').getBytes(StandardCharsets.UTF_8);
    List<Frame> frames = Frame.parseLines(new ObjectMapper(), line);
    Frame frame = LostCauses.explained(frames, cause).get(0);
    return ((Frame.End) frame).outcome();
  }

  private static Optional<Observation.Ended> cause(String reason, String message) {
    return Optional.of(new Observation.Ended(reason, message, null));
  }

  @Test
  void aTerminatedPodsExecutionGetsTheCauseFromTheCluster() {
    Outcome outcome = outcome("null", cause(null, "The pod was deleted."));
    assertEquals(
        "The executor ended before the script did. The pod was deleted.", outcome.message());
    assertEquals(ExecutionState.LOST, outcome.state());
    assertEquals(true, outcome.logsTruncated());
  }

  @Test
  void aPodThatWasEvictedForItsOwnDiskUseHasFailed() {
    Outcome outcome = outcome("null", cause("out_of_disk", "Usage of EmptyDir volume exceeds"));
    assertEquals(ExecutionState.FAILED, outcome.state());
    assertEquals(ExecutionReason.OUT_OF_DISK, outcome.reason());
  }

  @Test
  void withoutACauseTheMessageSaysWhatIsKnown() {
    assertEquals(
        "The executor ended before the script did. Its pod was terminated.",
        outcome("null", Optional.empty()).message());
  }

  @Test
  void aCauseThatTheExecutorKnowsStays() {
    assertEquals(
        "the runner exited",
        outcome("\"the runner exited\"", cause(null, "The pod was deleted.")).message());
  }
}
