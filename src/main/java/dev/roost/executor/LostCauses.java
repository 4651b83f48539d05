package dev.roost.executor;

import dev.roost.execution.Frame;
import dev.roost.execution.Outcome;
import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Finds out why the pod of an execution was terminated, before the execution is reported as lost:
 * clients get the cause at once, and an execution that exceeded its own limit isn't lost.
 */
@ApplicationScoped
class LostCauses {
  /** A kubelet notifies the pod first, and the cluster a little later. */
  private static final Duration AGAIN = Duration.ofMillis(300);

  private static final int LOOKS = 17;

  private final Runtime runtime;

  LostCauses(Runtime runtime) {
    this.runtime = runtime;
  }

  boolean areMissing(List<Frame> frames) {
    return frames.stream().anyMatch(LostCauses::isMissing);
  }

  private static boolean isMissing(Frame frame) {
    return frame instanceof Frame.End end && end.outcome().isUnexplained();
  }

  /** The cause, on a worker thread; empty when none is reported within five seconds. */
  Uni<Optional<Observation.Ended>> of(String executorId) {
    return Uni.createFrom()
        .item(() -> look(executorId))
        .runSubscriptionOn(Infrastructure.getDefaultWorkerPool())
        .repeat()
        .withDelay(AGAIN)
        .atMost(LOOKS)
        .select()
        .first(Optional::isPresent)
        .toUni()
        .map(found -> found == null ? Optional.<Observation.Ended>empty() : found)
        .emitOn(Infrastructure.getDefaultWorkerPool());
  }

  private Optional<Observation.Ended> look(String executorId) {
    try {
      return runtime.causeOfEnd(executorId);
    } catch (RuntimeUnavailable e) {
      return Optional.empty();
    }
  }

  static List<Frame> explained(List<Frame> frames, Optional<Observation.Ended> cause) {
    return frames.stream().map(frame -> explained(frame, cause)).toList();
  }

  private static Frame explained(Frame frame, Optional<Observation.Ended> cause) {
    if (!isMissing(frame)) {
      return frame;
    }
    Outcome outcome = ((Frame.End) frame).outcome();
    return new Frame.End(
        frame.seq(),
        outcome.because(
            cause.map(Observation.Ended::reason).orElse(null),
            cause.map(Observation.Ended::message).orElse(null)));
  }
}
