package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Runtime.BuildOutput;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The output of builds, of the container that builds and then of the one that pushes, as one text.
 * A position is a number of lines, so that another replica can go on where this one was.
 */
final class BuildLogs {
  /** Progress may be a second late; the API server is not asked more often. */
  private static final long INTERVAL_NANOS = 1_000_000_000L;

  private static final String RESULT_START = "{\"outcome\": ";
  private static final String FAILURE_START = RESULT_START + "\"failed\"";

  /** 16 MiB, of thousands of packages. */
  private static final int LONGEST_RESULT_PARTS = 1_024;

  private final Cluster cluster;
  private final Map<String, Reading> readings = new ConcurrentHashMap<>();

  BuildLogs(Cluster cluster) {
    this.cluster = cluster;
  }

  /** How far one build's output has been read. */
  private static final class Reading {
    final PodLog build;
    final PodLog push;
    final long skip;
    long lines;
    long readAt = System.nanoTime() - INTERVAL_NANOS;
    boolean complete;

    Reading(Cluster cluster, String pod, long skip) {
      this.build = new PodLog(since -> cluster.log(pod, BuilderManifest.BUILD, since));
      this.push = new PodLog(since -> cluster.log(pod, BuilderManifest.PUSH, since));
      this.skip = skip;
    }

    long position() {
      return Math.max(skip, lines);
    }
  }

  /**
   * The lines but the result's since a position.
   *
   * @param pod the build's
   */
  BuildOutput read(String builderJobId, Pod pod, long position) {
    Reading reading = readings.get(builderJobId);
    if (reading == null || reading.position() != position) {
      reading = new Reading(cluster, pod.getMetadata().getName(), position);
      readings.put(builderJobId, reading);
    }
    boolean ended = hasEnded(pod, BuilderManifest.PUSH) || hasFailed(pod);
    long now = System.nanoTime();
    if (reading.complete || (!ended && now - reading.readAt < INTERVAL_NANOS)) {
      return new BuildOutput(List.of(), position);
    }
    reading.readAt = now;
    List<String> lines = new ArrayList<>();
    try {
      boolean built = hasEnded(pod, BuilderManifest.BUILD);
      lines.addAll(reading.build.next(built));
      if (built) {
        lines.addAll(reading.push.next(ended));
      }
    } catch (IOException e) {
      readings.remove(builderJobId);
      throw new RuntimeUnavailable("the build's log can't be read: " + e.getMessage(), e);
    }
    reading.complete = ended;
    long before = reading.lines;
    reading.lines += lines.size();
    List<String> fresh =
        lines.stream()
            .skip(Math.max(0, reading.skip - before))
            .filter(line -> !line.startsWith(RESULT_START))
            .toList();
    return new BuildOutput(fresh, reading.position());
  }

  /**
   * The last line that the build printed, when it is a result. What runs while packages are built
   * can print anything, but the build itself ends with a result only when it has failed: that
   * something was pushed is believed of the container that pushes alone.
   */
  Optional<String> result(Pod pod) {
    String name = pod.getMetadata().getName();
    return lastLine(name, BuilderManifest.PUSH, RESULT_START)
        .or(() -> lastLine(name, BuilderManifest.BUILD, FAILURE_START));
  }

  /** Of a longer line the API counts every 16 KiB as one, so most of it may be missing at first. */
  private Optional<String> lastLine(String pod, String container, String start) {
    return IntStream.of(1, LONGEST_RESULT_PARTS)
        .mapToObj(parts -> cluster.lastLine(pod, container, parts))
        .filter(line -> line.startsWith(start))
        .findFirst();
  }

  void forget(String builderJobId) {
    readings.remove(builderJobId);
  }

  private static boolean hasFailed(Pod pod) {
    return "Failed".equals(pod.getStatus().getPhase());
  }

  private static boolean hasEnded(Pod pod, String container) {
    return Stream.concat(
            pod.getStatus().getInitContainerStatuses().stream(),
            pod.getStatus().getContainerStatuses().stream())
        .filter(status -> status.getName().equals(container))
        .map(ContainerStatus::getState)
        .anyMatch(state -> state != null && state.getTerminated() != null);
  }
}
