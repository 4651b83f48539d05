package dev.roost.runtime.kubernetes;

import io.fabric8.kubernetes.api.model.Event;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What events say about Jobs and pods. The events of pending pods come from one watch, because
 * pending pods are observed repeatedly; each time the watch can't answer, and to explain an end,
 * events are listed.
 */
final class Events implements AutoCloseable {
  /** Reasons of events of kubelets, the scheduler and the node controllers. */
  private static final Set<String> ENDINGS =
      Set.of("Evicted", "Preempted", "Preempting", "TaintManagerEviction", "NodeNotReady");

  private final Cluster cluster;
  private final LatestEvents latest = new LatestEvents();
  private final EventWatch watch;

  Events(Cluster cluster) {
    this(cluster, EventWatch.PAUSE);
  }

  /**
   * @param pause the shortest time between two connections of the watch
   */
  Events(Cluster cluster, Duration pause) {
    this.cluster = cluster;
    this.watch = new EventWatch(cluster, latest, pause, System::nanoTime);
  }

  /** Keeps the watch running; without another call, it ends after some minutes. */
  void watch() {
    watch.keep();
  }

  /**
   * Follows a Job that is about to be created.
   *
   * @return has to run when the Job has been created; one that already existed may have earlier
   *     events
   */
  Runnable follow(String jobName) {
    LatestEvents.Followed followed = latest.follow(jobName);
    return () -> latest.created(followed);
  }

  /**
   * The latest event about an object, if it is a warning. Earlier warnings no longer apply.
   *
   * @param name of the Job or of its pod
   */
  Optional<String> warning(String jobName, String name) {
    LatestEvents.Known known = watch.isLive() ? latest.about(jobName, name) : null;
    if (known != null) {
      return known.warning();
    }
    LatestEvents.Followed followed = latest.follow(jobName);
    List<Event> events = cluster.events(Map.of("involvedObject.name", name));
    latest.listed(followed, name, events);
    return events.stream()
        .max(Comparator.comparing(Events::time))
        .filter(Events::isWarning)
        .map(Events::text);
  }

  /** The latest event that may explain why a pod ends or can't be reached; always listed. */
  Optional<String> warningOfEnd(String podName) {
    return cluster.events(Map.of("involvedObject.name", podName)).stream()
        .filter(event -> ENDINGS.contains(event.getReason()))
        .max(Comparator.comparing(Events::time))
        .map(Events::text);
  }

  /**
   * The latest event that may explain why a removed pod of a Job ended, whose name is unknown;
   * always listed. A warning from before its containers started doesn't: the start succeeded.
   */
  Optional<String> lastWarningOfPods(String jobName) {
    List<Event> events =
        cluster.events(Map.of("involvedObject.kind", "Pod")).stream()
            .filter(event -> event.getInvolvedObject().getName().startsWith(jobName + "-"))
            .toList();
    Instant started =
        events.stream()
            .filter(event -> "Started".equals(event.getReason()))
            .map(Events::time)
            .max(Comparator.naturalOrder())
            .orElse(Instant.EPOCH);
    return events.stream()
        .filter(
            event ->
                ENDINGS.contains(event.getReason())
                    || (isWarning(event) && time(event).isAfter(started)))
        .max(Comparator.comparing(Events::time))
        .map(Events::text);
  }

  static boolean isWarning(Event event) {
    return "Warning".equals(event.getType());
  }

  static String text(Event event) {
    return event.getReason() + ": " + event.getMessage();
  }

  /** The time of the last occurrence: the field depends on the event's author. */
  static Instant time(Event event) {
    return Stream.of(
            event.getSeries() == null ? null : event.getSeries().getLastObservedTime().getTime(),
            event.getLastTimestamp(),
            event.getEventTime() == null ? null : event.getEventTime().getTime(),
            event.getMetadata().getCreationTimestamp())
        .filter(text -> text != null)
        .findFirst()
        .map(text -> OffsetDateTime.parse(text).toInstant())
        .orElse(Instant.EPOCH);
  }

  @Override
  public void close() {
    watch.close();
  }
}
