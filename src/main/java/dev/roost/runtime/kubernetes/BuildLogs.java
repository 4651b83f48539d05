package dev.roost.runtime.kubernetes;

import dev.roost.runtime.Runtime.BuildOutput;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The output of builds as one text: first of the container that builds, then of the one that
 * pushes. A position is a number of lines, so that another replica can continue at it.
 */
final class BuildLogs {
  /** Limits requests to the API server; progress may be a second late. */
  private static final long INTERVAL_NANOS = 1_000_000_000L;

  private static final String RESULT_START = "{\"outcome\": ";
  private static final String FAILURE_START = RESULT_START + "\"failed\"";

  /** 16 MiB, enough for thousands of packages. */
  private static final int LONGEST_RESULT_PARTS = 1_024;

  private final Source cluster;
  private final Map<String, Reading> readings = new ConcurrentHashMap<>();

  /** The output of containers. */
  interface Source {
    /**
     * @param since only lines from then on, in whole seconds, with timestamps; null: all lines,
     *     without timestamps
     * @return null when the container has not started, or its output is gone
     */
    InputStream log(String podName, String container, Instant since);

    /**
     * The last line; empty when there is none.
     *
     * @param parts the number of lines to read, or of 16 KiB pieces of longer lines
     */
    String lastLine(String podName, String container, int parts);
  }

  BuildLogs(Source cluster) {
    this.cluster = cluster;
  }

  /** The progress of reading one build's output. */
  private static final class Reading {
    final PodLog build;
    final PodLog push;
    final long skip;
    long lines;
    long readAt = System.nanoTime() - INTERVAL_NANOS;
    boolean built;
    boolean complete;

    Reading(Source cluster, String pod, long skip) {
      this.build = new PodLog(since -> cluster.log(pod, BuilderManifest.BUILD, since));
      this.push = new PodLog(since -> cluster.log(pod, BuilderManifest.PUSH, since));
      this.skip = skip;
    }

    long position() {
      return Math.max(skip, lines);
    }

    /** Whether the last call left lines unread. */
    boolean hasMore() {
      return build.hasMore() || push.hasMore();
    }
  }

  /** The lines after a position, without the result. */
  BuildOutput read(String builderJobId, Pod pod, long position) {
    Reading reading = readings.get(builderJobId);
    if (reading == null || reading.position() != position) {
      reading = new Reading(cluster, pod.getMetadata().getName(), position);
      readings.put(builderJobId, reading);
    }
    boolean ended = hasEnded(pod, BuilderManifest.PUSH) || hasFailed(pod);
    long now = System.nanoTime();
    boolean rest = ended || reading.hasMore();
    if (reading.complete || (!rest && now - reading.readAt < INTERVAL_NANOS)) {
      return new BuildOutput(List.of(), position);
    }
    reading.readAt = now;
    try {
      return new BuildOutput(next(reading, pod, ended), reading.position());
    } catch (IOException e) {
      throw new RuntimeUnavailable("the build's log cannot be read: " + e.getMessage(), e);
    }
  }

  /** The next new lines; empty when there are none yet. */
  private static List<String> next(Reading reading, Pod pod, boolean ended) throws IOException {
    boolean built = ended || hasEnded(pod, BuilderManifest.BUILD);
    while (!reading.complete) {
      // Counts one container's lines before reading the other's, which may fail.
      boolean building = !reading.built;
      PodLog log = building ? reading.build : reading.push;
      List<String> lines = log.next(building ? built : ended);
      if (!log.hasMore()) {
        reading.complete = ended && !building;
        reading.built = built;
      }
      List<String> fresh =
          lines.stream()
              .skip(Math.max(0, reading.skip - reading.lines))
              .filter(line -> !line.startsWith(RESULT_START))
              .toList();
      reading.lines += lines.size();
      boolean goOn = log.hasMore() || (building && reading.built);
      if (!fresh.isEmpty() || !goOn) {
        return fresh;
      }
    }
    return List.of();
  }

  /**
   * The last line that the build printed, if it is a result. Code of packages can print anything
   * while they are built, and the builder itself prints a result only when the build has failed. So
   * a success counts only when the container that pushes prints it.
   */
  Optional<String> result(Pod pod) {
    String name = pod.getMetadata().getName();
    return lastLine(name, BuilderManifest.PUSH, RESULT_START)
        .or(() -> lastLine(name, BuilderManifest.BUILD, FAILURE_START));
  }

  /**
   * The API counts every 16 KiB of a longer line as a line, so the first request may miss most of
   * it.
   */
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
