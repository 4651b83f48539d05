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
 * Finds out what the cluster has of a build or an executor, and what explains it. Copies are looked
 * at first; what matters is read anew.
 */
final class ClusterObserver implements AutoCloseable {
  private static final Duration DEAD_WATCH = Duration.ofSeconds(30);
  private static final Duration OLD_WATCH = Duration.ofMinutes(2);

  /** Whatever starts well has started by then: what hasn't is asked for events. */
  private static final Duration QUIET = Duration.ofSeconds(2);

  /** How often what only explains is asked for. */
  private static final Duration EXPLAINED = Duration.ofSeconds(2);

  private static final int MAX_LAST_LINE = 500;

  /** Removed pods whose cause is remembered. */
  private static final int MAX_REMOVED = 1_000;

  private final Cluster cluster;
  private final String namespace;
  private final Watch<Job> jobs;
  private final Watch<Pod> pods;
  private final TtlCache events = new TtlCache(EXPLAINED.toNanos());
  private final TtlCache lastLines = new TtlCache(EXPLAINED.toNanos());

  /** Of pods that were removed: why, by the names of their Jobs. */
  private final Map<String, Observation.Ended> removed =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Observation.Ended> eldest) {
              return size() > MAX_REMOVED;
            }
          });

  /**
   * @param changed is told when it is worth a look
   */
  ClusterObserver(Cluster cluster, PodSettings settings, Runnable changed) {
    this.cluster = cluster;
    this.namespace = settings.namespace();
    Map<String, String> ours = Map.of(ObjectNames.INSTANCE, settings.instance());
    jobs = new Watch<>("Jobs", () -> cluster.watchJobs(ours), changed, job -> {});
    pods = new Watch<>("Pods", () -> cluster.watchPods(ours), changed, this::removed);
  }

  /**
   * What is known of a Job and its pod.
   *
   * @param warning of the latest event, when there is one that may say what they wait for
   */
  record Seen(Job job, Pod pod, String warning) {}

  Seen see(String jobName, String label, String id) {
    Seen seen = lookUp(jobName, label, id);
    return new Seen(seen.job(), seen.pod(), warning(seen.job(), seen.pod()));
  }

  /**
   * Looks at the copies first; what they say of an absent Job or an end, or when they may be out of
   * date, is read anew. A Job without a pod waits, maybe for hours. The warning is left out.
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

  /** Asked for only when something takes longer than it should, or is gone. */
  private String warning(Job job, Pod pod) {
    if (job == null || (pod != null && (!isPending(pod) || Diagnosis.isUnscheduled(pod)))) {
      return null;
    }
    Instant made = Instant.parse(job.getMetadata().getCreationTimestamp());
    if (made.plus(QUIET).isAfter(Instant.now())) {
      return null;
    }
    String jobName = job.getMetadata().getName();
    if (pod != null) {
      String name = pod.getMetadata().getName();
      return events.get(name, () -> cluster.warning(name)).orElse(null);
    }
    if (!hasEnded(job)) {
      return events.get(jobName, () -> cluster.warning(jobName)).orElse(null);
    }
    return causeOfRemoval(jobName)
        .map(Observation.Ended::message)
        .or(() -> events.get(jobName, () -> cluster.lastWarningOfPods(jobName)))
        .orElse(null);
  }

  /** Why a pod is being ended, or is not heard of: read anew, since it has just happened. */
  Optional<Observation.Ended> causeOfEnd(String jobName) {
    Optional<Pod> pod = cluster.podOf(jobName);
    if (pod.isEmpty()) {
      return causeOfRemoval(jobName);
    }
    // A kubelet that evicts says so in an event at once, in the pod's status when that has ended.
    return Diagnosis.causeOfEnd(pod.get())
        .or(
            () ->
                cluster.warningOfEnd(pod.get().getMetadata().getName()).map(Diagnosis::causeOfEnd));
  }

  /** Why a pod that is no more was ended, if its removal was seen here. */
  private Optional<Observation.Ended> causeOfRemoval(String jobName) {
    return Optional.ofNullable(removed.get(jobName));
  }

  private void removed(Pod pod) {
    String job = pod.getMetadata().getLabels().get(ObjectNames.JOB_NAME);
    if (job != null) {
      Diagnosis.causeOfEnd(pod).ifPresent(cause -> removed.put(job, cause));
    }
  }

  /** What the containers that failed have printed last. */
  String lastWords(Pod pod) {
    String name = pod.getMetadata().getName();
    return Diagnosis.failed(pod).stream()
        .flatMap(
            container ->
                lastLines.get(name + "/" + container, () -> lastLine(name, container)).stream())
        .map(line -> " It printed last: " + line)
        .findFirst()
        .orElse("");
  }

  /** Not what is written for programs: frames, results, and the log entries of scripts. */
  private Optional<String> lastLine(String pod, String container) {
    try {
      return Optional.of(cluster.lastLine(pod, container, 1))
          .filter(line -> !line.isEmpty() && !line.startsWith("{") && !line.startsWith("["))
          .map(line -> line.substring(0, Math.min(line.length(), MAX_LAST_LINE)));
    } catch (RuntimeUnavailable e) {
      return Optional.empty();
    }
  }

  /** The values that a label has on Jobs: identifiers of builds or executors. */
  Set<String> ids(String label) {
    return jobs.values(label);
  }

  /** The copy of a pod. */
  Optional<Pod> pod(String label, String id) {
    return pods.labelled(label, id).stream().findFirst();
  }

  /**
   * Looks after the watches.
   *
   * @return for how long what happens in the cluster has not been seen at once; zero: it is
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
