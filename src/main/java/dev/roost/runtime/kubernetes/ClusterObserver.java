package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Observation;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Observes a build or an executor in the cluster and explains its state. Reads the watches' copies
 * first, and confirms what matters by a direct read.
 */
final class ClusterObserver implements AutoCloseable {
  private static final Duration DEAD_WATCH = Duration.ofSeconds(30);
  private static final Duration OLD_WATCH = Duration.ofMinutes(2);

  /** A healthy start takes less; the events of slower ones are looked up. */
  private static final Duration QUIET = Duration.ofSeconds(2);

  /** How often events and output are looked up, which only explain a state. */
  private static final Duration EXPLAINED = Duration.ofSeconds(2);

  private static final int MAX_LAST_LINE = 500;

  /** How many causes of removed pods are kept. */
  private static final int MAX_REMOVED = 1_000;

  private final Cluster cluster;
  private final Events events;
  private final String namespace;
  private final Watch<Job> jobs;
  private final Watch<Pod> pods;
  private final TtlCache warnings = new TtlCache(EXPLAINED.toNanos());
  private final TtlCache lastLines = new TtlCache(EXPLAINED.toNanos());

  /** Why pods were removed, by the names of their Jobs. */
  private final Map<String, Observation.Ended> removed =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Observation.Ended> eldest) {
              return size() > MAX_REMOVED;
            }
          });

  /**
   * @param changed runs when the state may have changed
   */
  ClusterObserver(Cluster cluster, Events events, PodSettings settings, Runnable changed) {
    this.cluster = cluster;
    this.events = events;
    this.namespace = settings.namespace();
    Map<String, String> ours = Map.of(ObjectNames.INSTANCE, settings.instance());
    jobs = new Watch<>("Jobs", () -> cluster.watchJobs(ours), changed, job -> {});
    pods = new Watch<>("Pods", () -> cluster.watchPods(ours), changed, this::removed);
  }

  /**
   * The known state of a Job and its pod.
   *
   * @param warning of the latest event, when one may explain a wait
   */
  record Seen(Job job, Pod pod, String warning) {}

  Seen see(String jobName, String label, String id) {
    Seen seen = lookUp(jobName, label, id);
    return new Seen(seen.job(), seen.pod(), warning(seen.job(), seen.pod()));
  }

  /**
   * Reads the copies first. An absent Job, an end and copies that may be out of date are confirmed
   * by a direct read. A Job without a pod isn't, since it may wait for hours. Leaves out the
   * warning.
   */
  Seen lookUp(String jobName, String label, String id) {
    Job job = jobs.named(namespace, jobName).orElse(null);
    Pod pod = pod(label, id).orElse(null);
    boolean doubtful =
        job == null || (pod != null && hasEnded(pod)) || hasEnded(job) || !jobs.isLive();
    if (doubtful || !pods.isLive()) {
      job = cluster.job(jobName).orElse(null);
      pod = cluster.podOf(jobName).orElse(null);
    }
    return new Seen(job, pod, null);
  }

  /** Looks up events only for a start that takes too long and for a removed pod. */
  private String warning(Job job, Pod pod) {
    if (job == null || (pod != null && (!isPending(pod) || Diagnosis.isUnscheduled(pod)))) {
      return null;
    }
    Instant created = Instant.parse(job.getMetadata().getCreationTimestamp());
    if (created.plus(QUIET).isAfter(Instant.now())) {
      return null;
    }
    String jobName = job.getMetadata().getName();
    if (pod != null) {
      String name = pod.getMetadata().getName();
      return warnings.get(name, () -> events.warning(jobName, name)).orElse(null);
    }
    if (!hasEnded(job)) {
      return warnings.get(jobName, () -> events.warning(jobName, jobName)).orElse(null);
    }
    return causeOfRemoval(jobName)
        .map(Observation.Ended::message)
        .or(() -> warnings.get(jobName, () -> events.lastWarningOfPods(jobName)))
        .orElse(null);
  }

  /** Why a pod is ending or can't be reached; a direct read, since it has just happened. */
  Optional<Observation.Ended> causeOfEnd(String jobName) {
    Optional<Pod> pod = cluster.podOf(jobName);
    if (pod.isEmpty()) {
      return causeOfRemoval(jobName);
    }
    // A kubelet creates an event when an eviction begins, and sets the pod's status when it ends.
    return Diagnosis.causeOfEnd(pod.get())
        .or(
            () ->
                events.warningOfEnd(pod.get().getMetadata().getName()).map(Diagnosis::causeOfEnd));
  }

  /** Why a removed pod ended, if this process has seen the removal. */
  private Optional<Observation.Ended> causeOfRemoval(String jobName) {
    return Optional.ofNullable(removed.get(jobName));
  }

  private void removed(Pod pod) {
    String job = pod.getMetadata().getLabels().get(ObjectNames.JOB_NAME);
    if (job != null) {
      Diagnosis.causeOfEnd(pod).ifPresent(cause -> removed.put(job, cause));
    }
  }

  /** The last lines of the containers that failed. */
  String lastOutput(Pod pod) {
    String name = pod.getMetadata().getName();
    return Diagnosis.failed(pod).stream()
        .flatMap(
            container ->
                lastLines.get(name + "/" + container, () -> lastLine(name, container)).stream())
        .map(line -> " Its last output: " + line)
        .findFirst()
        .orElse("");
  }

  /** Leaves out output for programs: frames, results, and the log entries of scripts. */
  private Optional<String> lastLine(String pod, String container) {
    try {
      return Optional.of(cluster.lastLine(pod, container, 1))
          .filter(line -> !line.isEmpty() && !line.startsWith("{") && !line.startsWith("["))
          .map(line -> line.substring(0, Math.min(line.length(), MAX_LAST_LINE)));
    } catch (RuntimeUnavailable e) {
      return Optional.empty();
    }
  }

  /** All values of a label on Jobs: the identifiers of builds or executors. */
  Set<String> ids(String label) {
    return jobs.values(label);
  }

  Optional<Pod> pod(String label, String id) {
    return pods.labelled(label, id).stream().findFirst();
  }

  /**
   * Restarts dead watches.
   *
   * @return how long the watches have been dead; zero: they are live
   */
  Duration blindFor() {
    return Duration.ofNanos(
        Math.max(
            jobs.lookAfter(DEAD_WATCH.toNanos(), OLD_WATCH.toNanos()),
            pods.lookAfter(DEAD_WATCH.toNanos(), OLD_WATCH.toNanos())));
  }

  private static boolean isPending(Pod pod) {
    return pod.getStatus().getPhase() == null || pod.getStatus().getPhase().equals("Pending");
  }

  static boolean hasEnded(Pod pod) {
    String phase = String.valueOf(pod.getStatus().getPhase());
    return Set.of("Succeeded", "Failed").contains(phase)
        || (!pod.getStatus().getContainerStatuses().isEmpty()
            && pod.getStatus().getContainerStatuses().stream()
                .map(ContainerStatus::getState)
                .allMatch(state -> state != null && state.getTerminated() != null));
  }

  private static boolean hasEnded(Job job) {
    return job.getStatus() != null
        && job.getStatus().getConditions().stream()
            .anyMatch(condition -> condition.getStatus().equals("True"));
  }

  @Override
  public void close() {
    jobs.close();
    pods.close();
  }
}
