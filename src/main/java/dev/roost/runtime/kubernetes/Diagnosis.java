package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Observation;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobCondition;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a Job and its pod say about each other, in one {@link Observation}. Every way in which a pod
 * can wait or fail gets a reason and a message here. Pure.
 *
 * <p>Reasons: those of Executions ({@code image_pull_failed}, {@code unschedulable}, {@code
 * runtime_unavailable}, {@code out_of_memory}, {@code out_of_disk}); {@link #ofBuild} has those of
 * BuilderJobs. The container states are Kubernetes' own, of versions 1.27 to 1.34.
 */
final class Diagnosis {
  static final String IMAGE_PULL_FAILED = "image_pull_failed";
  static final String UNSCHEDULABLE = "unschedulable";
  static final String RUNTIME_UNAVAILABLE = "runtime_unavailable";
  private static final String OUT_OF_MEMORY = "out_of_memory";
  private static final String OUT_OF_DISK = "out_of_disk";
  private static final String DEADLINE_EXCEEDED = "deadline_exceeded";
  private static final String PYTHON_VERSION_UNAVAILABLE = "python_version_unavailable";

  private static final Set<String> PULLING =
      Set.of("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull");

  /** What registries and container runtimes say of an image that isn't there. */
  private static final Pattern MISSING =
      Pattern.compile("not found|manifest unknown|does not exist|NAME_UNKNOWN|InvalidImageName");

  private Diagnosis() {}

  /**
   * @param job null when there is none
   * @param pod the Job's, null when there is none
   * @param warning the latest warning event about either; null when there is none or nobody looked
   */
  static Observation of(Job job, Pod pod, String warning) {
    if (pod == null) {
      return withoutPod(job, warning);
    }
    PodStatus status = pod.getStatus();
    return switch (status.getPhase() == null ? "Pending" : status.getPhase()) {
      case "Succeeded", "Failed" -> ending(pod);
      // Its node is gone or silent: what runs there may still run.
      case "Running", "Unknown" -> running(pod);
      default -> pending(pod, warning);
    };
  }

  /** The same, with the reasons that a BuilderJob can have. */
  static Observation ofBuild(Job job, Pod pod, String warning) {
    Observation seen = of(job, pod, warning);
    if (seen instanceof Observation.Pending pending && pending.reason() != null) {
      // Init containers work while the pod is pending.
      boolean building = containerStates(pod).anyMatch(state -> state.getRunning() != null);
      return building
          ? new Observation.Running(null)
          : new Observation.Pending(RUNTIME_UNAVAILABLE, pending.message());
    }
    if (seen instanceof Observation.Ended ended && IMAGE_PULL_FAILED.equals(ended.reason())) {
      return new Observation.Ended(PYTHON_VERSION_UNAVAILABLE, ended.message(), null);
    }
    return seen;
  }

  private static Observation withoutPod(Job job, String warning) {
    if (job == null) {
      return new Observation.Absent();
    }
    Optional<JobCondition> failed = finished(job);
    if (failed.isPresent()) {
      String message =
          "DeadlineExceeded".equals(failed.get().getReason())
              ? "Its Job ran longer than Kubernetes lets it."
              : "Its pod is gone: it was deleted, evicted, or its node went away.";
      return new Observation.Ended(null, withEvent(message, warning), null);
    }
    return warning == null
        ? new Observation.Pending(null, null)
        : new Observation.Pending(RUNTIME_UNAVAILABLE, "No pod can be made: " + warning);
  }

  private static Optional<JobCondition> finished(Job job) {
    return job.getStatus() == null
        ? Optional.empty()
        : job.getStatus().getConditions().stream()
            .filter(condition -> condition.getStatus().equals("True"))
            .filter(condition -> Set.of("Failed", "Complete").contains(condition.getType()))
            .findFirst();
  }

  /** Of two containers, one may have ended: the other one can't do without it for long. */
  private static Observation running(Pod pod) {
    boolean failed =
        containers(pod).stream()
            .map(container -> container.getState().getTerminated())
            .anyMatch(end -> end != null && !Integer.valueOf(0).equals(end.getExitCode()));
    return new Observation.Running(failed ? ending(pod).message() : null);
  }

  private static Observation pending(Pod pod, String warning) {
    for (ContainerStatus container : containers(pod)) {
      ContainerStateWaiting waiting = container.getState().getWaiting();
      String why = waiting == null ? null : waiting.getReason();
      if (why == null || Set.of("ContainerCreating", "PodInitializing").contains(why)) {
        continue;
      }
      String message = said(waiting.getReason(), waiting.getMessage());
      if (PULLING.contains(why)) {
        String text = "The image %s can't be pulled: %s".formatted(container.getImage(), message);
        return MISSING.matcher(message).find()
            ? new Observation.Ended(IMAGE_PULL_FAILED, text, null)
            : new Observation.Pending(IMAGE_PULL_FAILED, text);
      }
      return new Observation.Pending(
          RUNTIME_UNAVAILABLE,
          "The container %s can't be started: %s".formatted(container.getName(), message));
    }
    Optional<PodCondition> unscheduled =
        pod.getStatus().getConditions().stream()
            .filter(condition -> condition.getType().equals("PodScheduled"))
            .filter(condition -> condition.getStatus().equals("False"))
            .findFirst();
    if (unscheduled.isPresent()) {
      return new Observation.Pending(
          UNSCHEDULABLE, "No node has room for the pod: " + unscheduled.get().getMessage());
    }
    return warning == null
        ? new Observation.Pending(null, null)
        : new Observation.Pending(RUNTIME_UNAVAILABLE, "The pod can't start: " + warning);
  }

  private static Observation.Ended ending(Pod pod) {
    PodStatus status = pod.getStatus();
    String reason = null;
    List<String> parts = new ArrayList<>();
    if (status.getReason() != null || status.getMessage() != null) {
      parts.add("The pod ended: " + said(status.getReason(), status.getMessage()));
    }
    if ("Evicted".equals(status.getReason()) && status.getMessage() != null) {
      reason = evicted(status.getMessage());
    }
    if ("DeadlineExceeded".equals(status.getReason())) {
      reason = DEADLINE_EXCEEDED;
    }
    for (ContainerStatus container : containers(pod)) {
      ContainerStateTerminated end = container.getState().getTerminated();
      if (end == null || Integer.valueOf(0).equals(end.getExitCode())) {
        continue;
      }
      if ("OOMKilled".equals(end.getReason())) {
        reason = OUT_OF_MEMORY;
        parts.add(
            "The container %s used more than its memory limit of %s."
                .formatted(container.getName(), memoryLimit(pod, container.getName())));
      } else {
        parts.add(
            "The container %s ended with exit status %d%s."
                .formatted(
                    container.getName(),
                    end.getExitCode(),
                    "Error".equals(end.getReason()) || end.getReason() == null
                        ? ""
                        : " (" + said(end.getReason(), end.getMessage()) + ")"));
      }
    }
    return new Observation.Ended(
        reason, parts.isEmpty() ? "The pod has ended." : String.join(" ", parts), null);
  }

  private static String evicted(String message) {
    boolean own = message.contains("exceeds") || message.contains("exceeded");
    if (own && message.toLowerCase(Locale.ROOT).contains("storage")) {
      return OUT_OF_DISK;
    }
    return own && message.contains("emptyDir") ? OUT_OF_DISK : null;
  }

  private static String memoryLimit(Pod pod, String container) {
    return Stream.concat(
            pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream())
        .filter(one -> one.getName().equals(container))
        .map(one -> one.getResources().getLimits().get("memory"))
        .findFirst()
        .map(Object::toString)
        .orElse("its node");
  }

  private static List<ContainerStatus> containers(Pod pod) {
    return Stream.concat(
            pod.getStatus().getInitContainerStatuses().stream(),
            pod.getStatus().getContainerStatuses().stream())
        .filter(status -> status.getState() != null)
        .toList();
  }

  private static Stream<ContainerState> containerStates(Pod pod) {
    return pod == null ? Stream.of() : containers(pod).stream().map(ContainerStatus::getState);
  }

  private static String withEvent(String message, String event) {
    return event == null ? message : message + " " + event;
  }

  private static String said(String reason, String message) {
    if (message == null || message.isBlank()) {
      return reason == null ? "nobody says why" : reason;
    }
    return reason == null ? message : reason + ": " + message;
  }
}
