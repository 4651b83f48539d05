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

  private final Source cluster;
  private final Map<String, Reading> readings = new ConcurrentHashMap<>();

  /** What containers have printed. */
  interface Source {
    /**
     * @param since only lines from then on, in whole seconds, with their times; null: all, as
     *     printed
     * @return null when the container has not started, or its output is gone
     */
    InputStream log(String podName, String container, Instant since);

    /**
     * The last line; empty when there is none.
     *
     * @param parts how much is read: lines, or pieces of 16 KiB of longer ones
     */
    String lastLine(String podName, String container, int parts);
  }

  BuildLogs(Source cluster) {
    this.cluster = cluster;
  }

  /** How far one build's output has been read. */
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

    /** Whether there are lines that the last call had no room for. */
    boolean hasMore() {
      return build.hasMore() || push.hasMore();
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
    boolean rest = ended || reading.hasMore();
    if (reading.complete || (!rest && now - reading.readAt < INTERVAL_NANOS)) {
      return new BuildOutput(List.of(), position);
    }
    reading.readAt = now;
    try {
      return new BuildOutput(next(reading, pod, ended), reading.position());
    } catch (IOException e) {
      throw new RuntimeUnavailable("the build's log can't be read: " + e.getMessage(), e);
    }
  }

  /** The next lines that are news; none, when there are none yet. */
  private static List<String> next(Reading reading, Pod pod, boolean ended) throws IOException {
    boolean built = ended || hasEnded(pod, BuilderManifest.BUILD);
    while (!reading.complete) {
      // One after the other: what comes of the one is counted before the other may fail.
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
