package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Observation;
import dev.roost.runtime.Shortage;
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
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Turns the state of a Job and its pod into one {@link Observation}. Every way in which a pod can
 * wait or fail gets a reason and a message here. Pure.
 *
 * <p>Reasons: {@link #of} returns those of Executions, {@link #ofBuild} those of BuilderJobs.
 * States, reasons and texts are those of Kubernetes 1.27 to 1.34.
 */
final class Diagnosis {
  static final String IMAGE_PULL_FAILED = "image_pull_failed";
  private static final String UNSCHEDULABLE = "unschedulable";
  private static final String RUNTIME_UNAVAILABLE = "runtime_unavailable";
  private static final String REGISTRY_UNREACHABLE = "registry_unreachable";
  private static final String OUT_OF_MEMORY = "out_of_memory";
  private static final String OUT_OF_DISK = "out_of_disk";
  private static final String DEADLINE_EXCEEDED = "deadline_exceeded";
  private static final String EVICTED = "Evicted";
  private static final String PYTHON_VERSION_UNAVAILABLE = "python_version_unavailable";

  private static final Set<String> PULLING =
      Set.of("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull");

  private static final Set<String> USUAL_WAITS = Set.of("ContainerCreating", "PodInitializing");

  /** Messages of registries and container runtimes about an image that doesn't exist. */
  private static final Pattern MISSING =
      Pattern.compile("not found|manifest unknown|does not exist|NAME_UNKNOWN|InvalidImageName");

  /** Messages about a disk limit of the pod; messages about a full node differ. */
  private static final Pattern OWN_DISK_LIMIT =
      Pattern.compile("^(?!The node was low).*(storage|EmptyDir).*exceed|exceeded its local");

  /** The scheduler's note on pods that it might preempt for this one. */
  private static final Pattern PREEMPTION =
      Pattern.compile("\\s*+(no new claims to deallocate,)?+\\s*+preemption: .*+$", Pattern.DOTALL);

  private static final Pattern CREATION =
      Pattern.compile("^FailedCreate: Error creating: (pods \"[^\"]*\" is forbidden: )?");

  /** The prefixes that each layer adds to the error of a pull, with the image's name. */
  private static final Pattern PULL_LAYERS =
      Pattern.compile(
          "(ErrImagePull|ImagePullBackOff|InvalidImageName): |rpc error: code = \\w+ desc = "
              + "|(Back-off pulling|failed to pull and unpack|failed to resolve) (image|reference) \"[^\"]*\"(: )?"
              + "|Failed to apply default image tag \"[^\"]*\": ");

  /** The prefixes that each layer adds to a container runtime's error. */
  private static final Pattern START_LAYERS =
      Pattern.compile("^.*unable to start container process: |: unknown$");

  /** Events that only repeat the Job's condition. */
  private static final Pattern SAID_ALREADY =
      Pattern.compile("^(BackoffLimitExceeded|DeadlineExceeded): ");

  /** User and password in an address. */
  private static final Pattern CREDENTIALS = Pattern.compile("(?<=//)[^/@\\s]++(?=@)");

  private static final int MAX_TEXT = 1_000;

  private Diagnosis() {}

  /**
   * @param job null when there is none
   * @param pod the Job's pod, null when there is none
   * @param warning of the latest event about either; null when there is none, or it is unknown
   */
  static Observation of(Job job, Pod pod, String warning) {
    if (pod == null) {
      return withoutPod(job, warning);
    }
    PodStatus status = pod.getStatus();
    return switch (status.getPhase() == null ? "Pending" : status.getPhase()) {
      case "Succeeded", "Failed" -> ended(pod);
      // "Unknown": the node is gone or unreachable, and the containers may still run.
      case "Running", "Unknown" -> running(pod);
      default -> pending(pod, warning);
    };
  }

  /** As {@link #of}, with the reasons of a BuilderJob. */
  static Observation ofBuild(Job job, Pod pod, String warning) {
    if (pod != null && isBuilding(pod)) {
      return new Observation.Running(null);
    }
    Observation seen = of(job, pod, warning);
    if (seen instanceof Observation.Pending pending && UNSCHEDULABLE.equals(pending.reason())) {
      return new Observation.Pending(RUNTIME_UNAVAILABLE, pending.message(), pending.shortage());
    }
    if (seen instanceof Observation.Ended ended && pod == null && hasRunTooLong(job)) {
      return new Observation.Ended(DEADLINE_EXCEEDED, ended.message(), null);
    }
    return seen;
  }

  /** The containers that ended on their own and failed; their last output may explain why. */
  static List<String> failed(Pod pod) {
    return containers(pod)
        .filter(container -> hasFailed(container) && isOwnEnd(end(container)))
        .map(ContainerStatus::getName)
        .toList();
  }

  /** The pod's condition explains this state; events add nothing. */
  static boolean isUnscheduled(Pod pod) {
    return condition(pod, "PodScheduled", "False").isPresent();
  }

  /** Init containers run while the pod is pending. */
  private static boolean isBuilding(Pod pod) {
    return "Pending".equals(pod.getStatus().getPhase())
        && pod.getStatus().getInitContainerStatuses().stream()
            .anyMatch(one -> one.getState() != null && one.getState().getRunning() != null);
  }

  private static Observation withoutPod(Job job, String warning) {
    if (job == null) {
      return new Observation.Absent();
    }
    if (condition(job, "Failed", "FailureTarget").isPresent()) {
      boolean news = warning != null && !SAID_ALREADY.matcher(warning).find();
      String message =
          hasRunTooLong(job)
              ? "Its Job exceeded its deadline in Kubernetes."
              : "Its pod no longer exists"
                  + (news ? "." : ": it was deleted, evicted, or its node went away.");
      return new Observation.Ended(null, news ? message + " " + bounded(warning) : message, null);
    }
    if (condition(job, "Complete").isPresent()) {
      return new Observation.Ended(null, "It has ended, and its pod was deleted.", null);
    }
    if (condition(job, "Suspended").isPresent()) {
      return new Observation.Pending(RUNTIME_UNAVAILABLE, "Its Job is suspended in the cluster.");
    }
    return warning == null ? new Observation.Pending(null, null) : refused(warning);
  }

  private static Observation refused(String warning) {
    Optional<Shortage> shortage = Shortages.ofQuota(warning);
    boolean never = shortage.isEmpty() && Shortages.isOfQuota(warning);
    return new Observation.Pending(
        RUNTIME_UNAVAILABLE,
        (never
                ? "No pod can be created, because a single pod exceeds the quota: "
                : "No pod can be created: ")
            + CREATION.matcher(warning).replaceFirst(""),
        shortage.orElse(null));
  }

  private static boolean hasRunTooLong(Job job) {
    return job != null
        && condition(job, "Failed", "FailureTarget")
            .filter(failed -> "DeadlineExceeded".equals(failed.getReason()))
            .isPresent();
  }

  private static Optional<JobCondition> condition(Job job, String... types) {
    return job.getStatus() == null
        ? Optional.empty()
        : job.getStatus().getConditions().stream()
            .filter(condition -> "True".equals(condition.getStatus()))
            .filter(condition -> Set.of(types).contains(condition.getType()))
            .findFirst();
  }

  /**
   * When one container has ended, the other one will soon end, too. When all have ended, the pod's
   * phase follows more than a second later.
   */
  private static Observation running(Pod pod) {
    if (ClusterObserver.hasEnded(pod)) {
      return ended(pod);
    }
    boolean failed = containers(pod).anyMatch(Diagnosis::hasFailed);
    return new Observation.Running(failed ? ended(pod).message() : null);
  }

  private static Observation pending(Pod pod, String warning) {
    for (ContainerStatus container : containers(pod).toList()) {
      ContainerStateWaiting waiting = container.getState().getWaiting();
      String why = waiting == null ? null : waiting.getReason();
      if (why == null || USUAL_WAITS.contains(why)) {
        continue;
      }
      String message = description(why, waiting.getMessage());
      if (PULLING.contains(why)) {
        return withoutImage(container, message);
      }
      return new Observation.Pending(
          RUNTIME_UNAVAILABLE,
          "The container %s cannot be started: %s".formatted(container.getName(), message));
    }
    Optional<PodCondition> unscheduled = condition(pod, "PodScheduled", "False");
    if (unscheduled.isPresent()) {
      String message = message(unscheduled.get().getMessage(), unscheduled.get().getReason());
      Optional<Shortage> shortage = Shortages.ofScheduler(message);
      return new Observation.Pending(
          UNSCHEDULABLE,
          (shortage.isPresent()
                  ? "No node fits the pod: "
                  : "No node fits the pod, even if all others ended: ")
              + PREEMPTION.matcher(message).replaceFirst(""),
          shortage.orElse(null));
    }
    return warning == null
        ? new Observation.Pending(null, null)
        : new Observation.Pending(RUNTIME_UNAVAILABLE, "The pod cannot start: " + warning);
  }

  /** A missing image is final; an unreachable registry may recover. */
  private static Observation withoutImage(ContainerStatus container, String message) {
    boolean missing = MISSING.matcher(message).find();
    String cause = PULL_LAYERS.matcher(message).replaceAll("");
    String text =
        "The image %s of the container %s cannot be pulled: %s"
            .formatted(
                container.getImage(), container.getName(), cause.isBlank() ? message : cause);
    return switch (container.getName()) {
      case ExecutorManifest.AGENT ->
          missing
              ? new Observation.Ended(IMAGE_PULL_FAILED, text, null)
              : new Observation.Pending(IMAGE_PULL_FAILED, text);
      case BuilderManifest.BUILD ->
          missing
              ? new Observation.Ended(PYTHON_VERSION_UNAVAILABLE, text, null)
              : new Observation.Pending(REGISTRY_UNREACHABLE, text);
      default -> // Roost's own images: the operator's responsibility.
          missing
              ? new Observation.Ended(RUNTIME_UNAVAILABLE, text, null)
              : new Observation.Pending(RUNTIME_UNAVAILABLE, text);
    };
  }

  /** Why a pod is ending or has ended, according to the pod's own status. */
  static Optional<Observation.Ended> causeOfEnd(Pod pod) {
    PodStatus status = pod.getStatus();
    Optional<PodCondition> disruption = condition(pod, "DisruptionTarget", "True");
    if (status.getReason() != null || status.getMessage() != null) {
      boolean full =
          EVICTED.equals(status.getReason()) && isOwnDisk(String.valueOf(status.getMessage()));
      String text = "The pod ended: " + description(status.getReason(), status.getMessage());
      return Optional.of(new Observation.Ended(full ? OUT_OF_DISK : null, text, null));
    } else if (disruption.isPresent()) {
      String message = description(disruption.get().getReason(), disruption.get().getMessage());
      String text = "The cluster ended the pod: " + message;
      return Optional.of(new Observation.Ended(null, text, null));
    } else if (pod.getMetadata().getDeletionTimestamp() != null) {
      return Optional.of(new Observation.Ended(null, "The pod was deleted.", null));
    }
    return Optional.empty();
  }

  /** Why a pod is ending, according to an event's reason and message. */
  static Observation.Ended causeOfEnd(String event) {
    boolean full =
        event.startsWith(EVICTED + ": ") && isOwnDisk(event.substring(EVICTED.length() + 2));
    String text = "Kubernetes says of its pod: " + bounded(event.strip());
    return new Observation.Ended(full ? OUT_OF_DISK : null, text, null);
  }

  private static boolean isOwnDisk(String message) {
    return OWN_DISK_LIMIT.matcher(message).find();
  }

  private static Observation.Ended ended(Pod pod) {
    Optional<Observation.Ended> cause = causeOfEnd(pod);
    String reason = cause.map(Observation.Ended::reason).orElse(null);
    List<String> parts = new ArrayList<>(cause.map(Observation.Ended::message).stream().toList());
    // A known cause also explains the exit status of the containers.
    boolean explained = !parts.isEmpty();
    for (ContainerStatus container : containers(pod).filter(Diagnosis::hasFailed).toList()) {
      ContainerStateTerminated end = end(container);
      if ("OOMKilled".equals(end.getReason())) {
        parts.add(
            "The container %s exceeded its memory limit of %s."
                .formatted(container.getName(), memoryLimit(pod, container.getName())));
        // A script doesn't affect the sidecar's memory.
        reason = isSidecar(container) ? reason : OUT_OF_MEMORY;
      } else if ("StartError".equals(end.getReason())
          || "ContainerCannotRun".equals(end.getReason())) {
        parts.add(
            "The container %s cannot be started: %s"
                .formatted(
                    container.getName(),
                    START_LAYERS
                        .matcher(message(end.getMessage(), end.getReason()))
                        .replaceAll("")));
        reason = RUNTIME_UNAVAILABLE;
      } else if (!explained && !(isSidecar(container) && !parts.isEmpty())) {
        parts.add(
            "The container %s ended with exit status %d%s."
                .formatted(container.getName(), end.getExitCode(), detail(end)));
      }
    }
    return new Observation.Ended(
        reason, parts.isEmpty() ? "The pod has ended." : String.join(" ", parts), null);
  }

  /** The sidecar fails when the other container is gone; that failure is not reported. */
  private static boolean isSidecar(ContainerStatus container) {
    return container.getName().equals(ExecutorManifest.SIDECAR);
  }

  private static String detail(ContainerStateTerminated end) {
    if (!isOwnEnd(end)) {
      return " (" + description(end.getReason(), end.getMessage()) + ")";
    }
    int signal = end.getExitCode() - 128;
    return signal > 0 && signal < 65 ? " (signal " + signal + ")" : "";
  }

  private static boolean isOwnEnd(ContainerStateTerminated end) {
    return end.getReason() == null || end.getReason().equals("Error");
  }

  private static boolean hasFailed(ContainerStatus container) {
    ContainerStateTerminated end = end(container);
    return end != null && !Integer.valueOf(0).equals(end.getExitCode());
  }

  private static ContainerStateTerminated end(ContainerStatus container) {
    return container.getState().getTerminated();
  }

  private static String memoryLimit(Pod pod, String container) {
    return Stream.concat(
            pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream())
        .filter(one -> one.getName().equals(container))
        .filter(one -> one.getResources() != null)
        .map(one -> one.getResources().getLimits().get("memory"))
        .filter(limit -> limit != null)
        .findFirst()
        .map(Object::toString)
        .orElse("its node");
  }

  private static Optional<PodCondition> condition(Pod pod, String type, String status) {
    return pod.getStatus().getConditions().stream()
        .filter(condition -> type.equals(condition.getType()))
        .filter(condition -> status.equals(condition.getStatus()))
        .findFirst();
  }

  private static Stream<ContainerStatus> containers(Pod pod) {
    return Stream.concat(
            pod.getStatus().getInitContainerStatuses().stream(),
            pod.getStatus().getContainerStatuses().stream())
        .filter(status -> status.getState() != null);
  }

  private static String message(String message, String reason) {
    return message == null ? description(reason, null) : message;
  }

  private static String description(String reason, String message) {
    if (message == null || message.isBlank()) {
      return reason == null ? "no reason was reported" : reason;
    }
    return bounded(reason == null ? message.strip() : reason + ": " + message.strip());
  }

  /**
   * Kubernetes repeats messages of other programs, of any length and with the addresses they used.
   */
  private static String bounded(String text) {
    String safe = CREDENTIALS.matcher(text).replaceAll("***");
    return safe.length() > MAX_TEXT ? safe.substring(0, MAX_TEXT - 1) + "…" : safe;
  }
}
